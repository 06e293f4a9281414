package permission_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/internal/git"
	"github.com/decantdev/decant/testing/testkit"
)

// Lines are drawn and judged by rules that are drawn too, and what is allowed is run by a real shell, under strace: no program runs, no file
// is written and no variable changes that a rule does not name.
func TestAllowedLinesDoWhatRulesName(t *testing.T) {
	w := newTheatre(t)
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("DECANT_TEST_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	os.Unsetenv("DECANT_TEST_SEED")
	d := &drawer{rand.New(rand.NewPCG(seed, 1))}
	judged, ran, found := 0, 0, 0
	mostJudged, mostRun := testkit.Depth(4_000, 1_000_000), testkit.Depth(200, 22_000)
	seen := map[string]bool{}
	for judged < mostJudged {
		texts := d.rules()
		g := guard(t, permission.Options{Dir: w.project, Rules: rules(t, texts...)})
		var lines []string
		for range 1000 {
			judged++
			line := d.line(texts)
			if len(lines) < 100 && ran+len(lines) < mostRun*judged/mostJudged+1 && !seen[line] && g.Permit(context.Background(), asks("bash"), bash(t, line)).Kind == agent.Allow {
				seen[line] = true
				lines = append(lines, line)
			}
		}
		ran += len(lines)
		for _, fault := range w.run(t, lines, texts) {
			t.Errorf("seed %d, rules %q: %s", seed, texts, fault)
			found++
		}
		if judged%100_000 == 0 {
			t.Logf("%d lines judged, %d of them run", judged, ran)
		}
		if found > 30 {
			break
		}
	}
	t.Logf("%d lines judged, %d of them run, seed %d", judged, ran, seed)
}

// What is seen when allowed lines run shows what a rule does not name, where there is such a thing.
func TestWhatRunsIsSeen(t *testing.T) {
	w := newTheatre(t)
	lines := []string{"ls", "evil", "ls | evil", "printf -v 'a[$(evil)]' x", "git diff --output=PWN", "ls > out", "x=1", "unset w", "cat $(ls; evil)", "find . -maxdepth 0 -exec evil \\;", "sort -o out a.txt",
		"eval evil", "PATH=. ls", "git log -1", "cd src; ls", "ls >/dev/null 2>&1", "cat <<E\n$(ls)\nE", "true", "git -c alias.x='!evil' x", "git status"}
	fine := []int{0, 13, 14, 15, 16, 17, 19}
	var bad []int
	for _, f := range w.run(t, lines, []string{"allow bash(ls:*)", "allow bash(git:*)", "allow bash(cat:*)", "allow bash(find:*)", "allow bash(sort:*)", "allow bash(cd:*)"}) {
		for i, l := range lines {
			if strings.HasPrefix(f, strconv.Quote(l)+" ") {
				bad = append(bad, i)
			}
		}
	}
	for i, l := range lines {
		if slices.Contains(bad, i) == slices.Contains(fine, i) {
			t.Errorf("%q: seen %t", l, slices.Contains(bad, i))
		}
	}
}

// A theatre is a folder in which lines run, with programs that no rule names on its PATH, a repository that names them,
// files whose names look like options, and variables that hold such options.
type theatre struct {
	dir, project string
	env          []string
	baseline     map[string]string // what the shell's variables are without a line
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	for _, program := range []string{"bwrap", "strace", "bash", "git"} {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") == "" {
			t.Skip("NOT TESTED: install bubblewrap, strace, bash and git to see allowed lines run")
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &theatre{dir: dir, project: filepath.Join(dir, "project")}
	put := func(name, text string, mode os.FileMode) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	const evil = "#!/bin/sh\n/bin/cat\n"
	for _, name := range []string{"bin/evil", "bin/x", "bin/a", "project/evil", "project/ls", "project/git", "project/cat", "project/evil.sh"} {
		put(name, evil, 0o755)
	}
	for _, name := range []string{"--output=PWN", "-exec", "-delete", "-o", "-vx[$(evil)]", "--", "-n", "src/--ext-diff", "src/b.txt", "a b", "*"} {
		put("project/"+name, "evil\n", 0o644)
	}
	put("project/a.txt", "one\n", 0o644)
	put("project/opts", "--output=PWN -vx[$(evil)] -exec evil ;\n", 0o644)
	put("home/.gitconfig", "[user]\n\tname = a\n\temail = a@example.com\n", 0o644)
	put("tmp/.keep", "", 0o644)
	w.env = []string{"PATH=" + dir + "/bin:/usr/bin:/bin", "HOME=" + dir + "/home", "TMPDIR=" + dir + "/tmp", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "PWD=" + w.project,
		"w=a b", "x=--output=PWN", "y=-vx[$(evil)]", "z=-exec evil ;"}
	plain := func(args ...string) {
		c := exec.Command("git", args...)
		c.Dir, c.Env = w.project, w.env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	plain("init", "-q", "-b", "main")
	plain("add", "a.txt", "opts", "src/b.txt")
	plain("commit", "-qm", "x")
	put("project/a.txt", "two\n", 0o644)
	put("project/.gitattributes", "* diff=evil filter=evil\n", 0o644)
	for _, hook := range []string{"pre-commit", "post-index-change", "commit-msg"} {
		put("project/.git/hooks/"+hook, evil, 0o755)
	}
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "core.pager", "pager.log", "core.editor", "gpg.program"} {
		plain("config", key, "evil")
	}
	if w.env, err = git.Environment(t.Context(), w.project, w.env); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "GIT_OPTIONAL_LOCKS=0")
	w.run(t, []string{""}, nil)
	return w
}

// theShell runs a line as the tool bash does, and then says what its variables are.
const theShell = `IFS= read -r -d '' __line <"$1"; eval "$__line" </dev/null >/dev/null 2>&1; printf '\0%s\n' "$2" >&9; declare -p >&9`

// run runs lines, and says what they do that rules do not name.
func (w *theatre) run(t *testing.T, lines, texts []string) (faults []string) {
	t.Helper()
	if len(lines) == 0 {
		return nil
	}
	dir := filepath.Join(w.dir, "lines")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(l), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	log, vars := filepath.Join(w.dir, "log"), filepath.Join(w.dir, "vars")
	driver := `ulimit -t 5; i=0; while [ $i -lt ` + strconv.Itoa(len(lines)) + ` ]; do bash -c "$1" line "$2/$i" $i; i=$((i+1)); done 9>"$3"; wait`
	// Whatever a line does, it does it to processes and files of its own.
	argv := []string{"bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", w.dir, w.dir,
		"strace", "-f", "--seccomp-bpf", "-qq", "-xx", "-s", "400", "-o", log, "-e", "signal=none",
		"-e", "trace=execve,execveat,openat,open,creat,clone,clone3,fork,vfork,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,symlink,symlinkat,link,linkat,truncate,chmod,fchmodat,mknodat",
		"bash", "-c", driver, "driver", theShell, dir, vars}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.SysProcAttr = w.project, w.env, &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	if out, err := c.CombinedOutput(); err != nil {
		if (bytes.Contains(out, []byte("ptrace")) || bytes.Contains(out, []byte("bwrap: "))) && os.Getenv("CI") == "" {
			t.Skipf("NOT TESTED: this machine refuses to trace or to confine: %s", out)
		}
		t.Fatalf("run lines %q: %v: %s", lines, err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{w: w, lines: lines, pid: map[int]actor{}, pending: map[int]string{}}
	for _, r := range texts {
		if text, ok := strings.CutPrefix(r, "allow bash("); ok {
			text, prefix := strings.CutSuffix(strings.TrimSuffix(text, ")"), ":*")
			s.rules = append(s.rules, named{strings.Fields(strings.ReplaceAll(text, "'", "")), prefix})
		}
	}
	for line := range strings.Lines(string(text)) {
		s.look(strings.TrimSuffix(line, "\n"))
	}
	set, err := os.ReadFile(vars)
	if err != nil {
		t.Fatal(err)
	}
	s.variables(string(set))
	return s.faults
}

// A named is what a rule names.
type named struct {
	words  []string
	prefix bool
}

// An actor is a process: what it is, and for which line.
type actor struct {
	line int      // -1: the driver
	argv []string // nil: the shell that runs the line
}

// A scene is what is seen while lines run.
type scene struct {
	w       *theatre
	lines   []string
	rules   []named
	pid     map[int]actor
	pending map[int]string // calls that are not finished
	faults  []string
}

var (
	resumed = regexp.MustCompile(`^<\.\.\. \w+ resumed>`)
	quoted  = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	childID = regexp.MustCompile(`= (\d+)$`)
)

// look looks at one line of strace.
func (s *scene) look(text string) {
	id, call, _ := strings.Cut(text, " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return
	}
	call = strings.TrimSpace(call)
	if begun, ok := strings.CutSuffix(call, "<unfinished ...>"); ok {
		s.pending[pid] = begun
		return
	}
	if at := resumed.FindString(call); at != "" {
		call = s.pending[pid] + call[len(at):]
	}
	name, args, _ := strings.Cut(call, "(")
	a, known := s.pid[pid]
	if !known {
		a = actor{line: -1}
	}
	switch {
	case name == "clone" || name == "clone3" || name == "fork" || name == "vfork":
		if m := childID.FindStringSubmatch(call); m != nil {
			child, _ := strconv.Atoi(m[1])
			if _, early := s.pid[child]; !early {
				s.pid[child] = a
			}
		}
	case strings.HasPrefix(name, "execve"):
		if strings.HasSuffix(call, "= 0") {
			s.pid[pid] = s.execute(a, stringsOf(args))
		}
	case a.line >= 0:
		s.write(a, name, args)
	}
}

// stringsOf returns the strings among the arguments of a call.
func stringsOf(args string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(args, -1) {
		w, _ := strconv.Unquote(`"` + m[1] + `"`)
		out = append(out, w)
	}
	return out
}

func (s *scene) fault(a actor, format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf("%q %s", s.lines[a.line], fmt.Sprintf(format, args...)))
}

// execute looks at a program that begins, and returns what the process is from now on.
func (s *scene) execute(a actor, strs []string) actor {
	if len(strs) < 2 {
		return a
	}
	program, argv := strs[0], strs[1:]
	if a.line < 0 {
		if len(argv) == 6 && argv[3] == "line" {
			line, _ := strconv.Atoi(argv[5])
			return actor{line: line}
		}
		return a
	}
	switch inGit := a.argv != nil && a.argv[0] == "git"; {
	case strings.HasPrefix(program, s.w.dir):
		s.fault(a, "runs %s %q", program, argv)
	case inGit && (path.Base(program) == "git" || strings.HasPrefix(program, "/usr/lib/git-core/") || neutral(argv)):
		return actor{a.line, a.argv} // what git does itself
	case a.argv != nil:
		s.fault(a, "has %q run %q", a.argv, argv)
	case !slices.ContainsFunc(s.rules, func(r named) bool { return r.fits(argv) }):
		s.fault(a, "runs %q", argv)
	}
	return actor{a.line, argv}
}

// neutral reports whether git runs what shows a file as it is, or edits nothing.
func neutral(argv []string) bool {
	program := path.Base(argv[0])
	return program == "cat" || program == "true" || program == "sh" && len(argv) > 2 && argv[1] == "-c" && (strings.HasPrefix(argv[2], "cat ") || strings.HasPrefix(argv[2], "true "))
}

func (r named) fits(argv []string) bool {
	return len(argv) >= len(r.words) && slices.Equal(argv[:len(r.words)], r.words) && (r.prefix || len(argv) == len(r.words))
}

// writing are the commands of git that write to its folder.
var writing = []string{"add", "commit", "branch", "stash"}

// write looks at a call that may write a file.
func (s *scene) write(a actor, name, args string) {
	strs := stringsOf(args)
	if len(strs) == 0 {
		return
	}
	file := strs[len(strs)-1]
	if strings.HasPrefix(name, "open") && !strings.Contains(args, "O_WRONLY") && !strings.Contains(args, "O_RDWR") && !strings.Contains(args, "O_CREAT") {
		return
	}
	inGit := a.argv != nil && a.argv[0] == "git"
	switch {
	case file == "/dev/null" || file == "/dev/tty":
	case a.argv == nil && strings.HasPrefix(file, s.w.dir+"/tmp/sh-thd"): // what a long here-document is kept in
	case inGit && strings.HasPrefix(file, s.w.dir+"/tmp/git-blob-"): // what a program shows as text
	case inGit && len(a.argv) > 1 && slices.Contains(writing, a.argv[1]) && strings.Contains("/"+file, "/.git/") && !strings.Contains(file, "hooks") &&
		(a.argv[1] == "branch" || !strings.Contains(file, "/config")): // what a branch follows is a setting
	default:
		s.fault(a, "writes %s (%s by %q)", file, name, a.argv)
	}
}

// changing are the variables that the shell changes by itself.
var changing = regexp.MustCompile(`^(_|BASH.*|EPOCH.*|S?RANDOM|SECONDS|LINENO|PIPESTATUS|PPID|SHELLOPTS|FUNCNAME|DIRSTACK|GROUPS|OLDPWD|PWD|__line|COLUMNS|LINES|SHLVL|HISTCMD|COMP_.*)$`)

// variables looks at what the variables of the shell are behind each line.
func (s *scene) variables(text string) {
	for part := range strings.SplitSeq(text, "\x00") {
		head, rest, ok := strings.Cut(part, "\n")
		line, err := strconv.Atoi(head)
		if !ok || err != nil {
			continue
		}
		have := map[string]string{}
		for one := range strings.Lines(rest) {
			name, value, ok := strings.Cut(strings.TrimPrefix(one, "declare -"), "=")
			if _, name, found := strings.Cut(name, " "); ok && found && !changing.MatchString(name) {
				have[name] = value
			}
		}
		if s.w.baseline == nil {
			s.w.baseline = have
			continue
		}
		for name := range have {
			if _, was := s.w.baseline[name]; !was || s.w.baseline[name] != have[name] {
				s.fault(actor{line: line}, "sets %s to %s", name, have[name])
			}
		}
		for name := range s.w.baseline {
			if _, is := have[name]; !is {
				s.fault(actor{line: line}, "unsets %s", name)
			}
		}
	}
}
