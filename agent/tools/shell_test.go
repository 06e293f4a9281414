//go:build linux

package tools_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/testing/testkit"
)

// shellBench returns tools whose commands are confined in a certain way, or skips the test where the machine has no such way.
func shellBench(t *testing.T, kind string, s tools.Shell) *bench {
	t.Helper()
	dir := seenDir(t)
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Env = append(env(), "HOME="+os.Getenv("HOME"))
	if kind != "bubblewrap" {
		withoutBubblewrap(t)
	}
	b := newBench(t, tools.Options{Dir: filepath.Join(dir, "in"), Shell: s, Fetch: tools.Fetch{Off: true}})
	if got := b.set.Confined(); got != kind {
		t.Skipf("this machine confines by %q, not by %q", got, kind)
	}
	if kind == "landlock" { // what it does not do is said once
		b.has(b.preview("bash", args{"command": "true"}), "Install bubblewrap")
		b.has(b.bash("true"), "Install bubblewrap")
	}
	return b
}

// path is where commands are found, also while bwrap is hidden from the test.
var path = os.Getenv("PATH")

// env is the environment of commands. The race detector waits a second at the end of each process unless it is told not to.
func env() []string { return []string{"PATH=" + path, "GORACE=atexit_sleep_ms=0"} }

// seenDir returns a temporary folder that confined commands see, which they do not of /tmp.
func seenDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "decant-test-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// withoutBubblewrap hides bwrap from the test.
func withoutBubblewrap(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"bash", "sh"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
}

func (b *bench) bash(command string) string {
	b.Helper()
	return b.try("bash", args{"command": command})
}

// all runs commands: at full depth each by itself, else all within one, as to confine a command takes far longer than to run it.
func (b *bench) all(commands []string, check func(command, got string)) {
	b.Helper()
	if !testkit.Full() {
		commands = []string{"(" + strings.Join(commands, "\n)\n(") + "\n)"}
	}
	for _, c := range commands {
		check(c, b.bash(c))
	}
}

// kinds are the ways to confine a command, and none.
func kinds(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) { f(t, kind) })
	}
}

func TestCommands(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := shellBench(t, kind, tools.Shell{})
		for _, c := range []struct{ command, want string }{
			{"echo one; echo two >&2", "one\ntwo\n"}, {"true", ""}, {"printf '%s' \"it's\"", "it's"}, {"exit 3", "error: (exit status 3)"},
			{"echo a\nfalse", "error: a\n(exit status 1)"}, {"cat; echo end", "end\n"}, {"kill -9 $$", "error: (exit status 137)"},
			{"printf 'a\\377b\\033[31m'", "a\ufffdb\x1b[31m"}, {"echo $#", "0\n"}, {"exec echo x", "x\n"}, {"echo x > f && cat f && rm f", "x\n"},
			{"mktemp -d >/dev/null && echo ok", "ok\n"}, {"f=$(mktemp) && mv $f here && ls here", "here\n"}, {"ls / >/dev/null && echo ok", "ok\n"},
			{"echo x > /dev/null && head -c 3 /dev/zero | wc -c", "3\n"}, {"cat <(echo sub)", "sub\n"}, {"mkdir -p d/e && mv d/e g && ls", "d\ng\nhere\n"},
		} {
			if got := b.bash(c.command); got != c.want {
				t.Errorf("%q: %q, want %q", c.command, got, c.want)
			}
		}
		b.has(b.bash("if"), "error: ", "syntax error")
		b.has(b.bash("exec 3</dev/tty"), "error: ")
		b.has(b.bash(""), "error: command is empty")
	})
}

// A command begins where the one before has left the shell, as long as that is in the project.
func TestTheFolderStays(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := shellBench(t, kind, tools.Shell{})
		steps := []struct{ command, want string }{
			{"mkdir -p 'a b/c' && cd 'a b'", ""}, {"pwd", b.dir + "/a b\n"}, {"cd c; false", "error: (exit status 1)"}, {"pwd", b.dir + "/a b/c\n"},
			{"cd /usr", "(the shell is in the project's folder again: /usr is not in it)"}, {"pwd", b.dir + "\n"},
			{"mkdir gone; cd gone", ""}, {"rmdir ../gone", ""}, {"pwd", b.dir + "\n"}, {"(cd 'a b')", ""}, {"pwd", b.dir + "\n"}, {"cd $TMPDIR", ""}, {"cd " + b.dir, ""},
			{"cd 'a b'; rm -f $TMPDIR/.cwd; mkfifo $TMPDIR/.cwd; exec true", ""}, {"pwd", b.dir + "\n"}, {"ln -sf /etc/passwd $TMPDIR/.cwd; exec true", ""}, {"pwd", b.dir + "\n"},
		}
		for _, s := range steps {
			if got := b.bash(s.command); got != s.want {
				t.Errorf("%q: %q, want %q", s.command, got, s.want)
			}
		}
	})
}

// What a confined command tries outside of the project has no effect there.
func TestCommandsDoNotGetOut(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		outside := t.TempDir() // in /tmp
		b := shellBench(t, kind, tools.Shell{})
		up := filepath.Dir(b.dir)
		if err := os.Symlink(up, filepath.Join(b.dir, "link")); err != nil {
			t.Fatal(err)
		}
		victim := filepath.Join(up, "victim")
		if err := os.WriteFile(victim, []byte("safe"), 0o666); err != nil {
			t.Fatal(err)
		}
		b.all([]string{
			"cd ..; echo x > x", "echo x > ../x", "echo x > " + up + "/x", "echo x > link/x", "cd link && echo x > x", "echo x > /proc/self/root" + up + "/x",
			"echo x > /proc/self/cwd/../x", "echo x > ../victim", "echo x >> " + victim, "rm -f ../victim", "mv ../victim .", "ln ../victim here && echo x > here",
			"ln -s ../victim v; echo x > v", "mkdir ../d", "truncate -s 0 ../victim", "mv link ../moved", "cp f ../x", "echo x > " + outside + "/x",
			"sh -c 'sh -c \"echo x > ../x\"'", "(setsid sh -c 'echo x > ../x' &) ; sleep 0.1", "echo x > /etc/decant-test", "exec 9<.. && echo x > /proc/self/fd/9/x",
			"mount --bind .. link", "unshare -rm sh -c 'echo x > ../x'", "echo x > /dev/shm/../../" + up + "/x", "chroot / sh -c 'echo x > " + up + "/x'",
		}, func(command, _ string) {
			names, err := filepath.Glob(up + "/*")
			if err != nil || len(names) != 2 { // the project and the victim
				t.Fatalf("%q: there are %q, %v", command, names, err)
			}
			if got, err := os.ReadFile(victim); err != nil || string(got) != "safe" {
				t.Fatalf("%q: the file is %q, %v", command, got, err)
			}
		})
		for _, name := range []string{outside + "/x", "/etc/decant-test"} {
			if _, err := os.Lstat(name); err == nil {
				t.Errorf("%s was written", name)
			}
		}
	})
}

// What git runs and what says what the agent may do stays as it is within bubblewrap, also when the folder above it is put aside; git works.
func TestBubblewrapKeepsWhatIsRunOutside(t *testing.T) {
	for name, git := range map[string]func(b *bench){
		"a repository": func(b *bench) {
			b.put(".git/config", "[core]\n")
			b.put(".git/hooks/x.sample", "x")
			b.put(".git/HEAD", "ref: refs/heads/main\n")
		},
		"a work tree": func(b *bench) { b.put(".git", "gitdir: /nowhere\n") },
	} {
		t.Run(name, func(t *testing.T) {
			b := shellBench(t, "bubblewrap", tools.Shell{})
			git(b)
			b.put(".decant/config.yaml", "deny: [bash]\n")
			before := everything(t, b.dir)
			b.all([]string{
				"echo x >.git/config", "echo x >.git/hooks/pre-commit", "mv .git old", "mv .git old; mkdir .git; echo x >.git/config", "rm -rf .git/hooks .git/config", "rm .git",
				"echo x >.git", "ln -sfnT x .git", "mv .decant old", "rm -rf .decant", "echo x >.decant/config.yaml", "echo x >.decant/new",
			}, func(command, _ string) {
				if got := everything(t, b.dir); got != before {
					t.Fatalf("%q: there is\n%s\nbefore it was\n%s", command, got, before)
				}
			})
			if got := b.bash("if [ -d .git ]; then echo x >.git/index.lock && mv .git/index.lock .git/index; fi; echo done"); got != "done\n" {
				t.Errorf("what git does: %q", got)
			}
		})
	}
}

// What is hidden stays so in a folder of /tmp that commands may write to.
func TestBubblewrapHidesInWhatMayBeWritten(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"key", "note"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := shellBench(t, "bubblewrap", tools.Shell{Write: []string{dir}, Hide: []string{filepath.Join(dir, "key")}})
	if got := b.bash("cat " + dir + "/note " + dir + "/key"); !strings.Contains(got, "text of note") || strings.Contains(got, "text of key") {
		t.Errorf("%q", got)
	}
}

// everything returns the files below a folder and what is in them.
func everything(t *testing.T, dir string) (out string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		out += fmt.Sprintf("%s %s %q\n", strings.TrimPrefix(name, dir), d.Type(), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What holds credentials is not read, by whatever name; the rest of the machine is.
func TestConfinedCommandsReadNoCredentials(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		home := seenDir(t)
		t.Setenv("HOME", home)
		for name, text := range map[string]string{".ssh/id_rsa": "SECRET", ".netrc": "SECRET", ".config/gh/hosts.yml": "SECRET", ".config/other": "open", "mine/key": "SECRET", "notes": "open"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(".ssh", filepath.Join(home, "alias")); err != nil {
			t.Fatal(err)
		}
		b := shellBench(t, kind, tools.Shell{Hide: []string{filepath.Join(home, "mine")}})
		b.all([]string{
			"cat ~/.ssh/id_rsa", "cat ~/.netrc", "cat ~/.config/gh/hosts.yml", "cat ~/mine/key", "cat ~/alias/id_rsa", "cd ~/.ssh && cat id_rsa", "cat /proc/self/root" + home + "/.ssh/id_rsa",
			"ln -s ~/.ssh s; cat s/id_rsa", "ln ~/.ssh/id_rsa k; cat k", "cp -r ~/.ssh here; cat here/id_rsa", "grep -r SECRET ~", "tar c ~ | tar x -O", "mv ~/.ssh .; cat .ssh/id_rsa",
		}, func(command, got string) {
			if strings.Contains(strings.ReplaceAll(got, "grep -r SECRET", ""), "SECRET") {
				t.Errorf("%q: %q", command, got)
			}
		})
		if got := b.bash("cat ~/notes ~/.config/other"); got != "openopen" {
			t.Errorf("what is no secret: %q", got)
		}
	})
}

// A confined command reaches neither network nor other processes.
func TestConfinedCommandsAreAlone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	connect := "exec 3<>/dev/tcp/127.0.0.1/" + port + " && echo in"
	kinds(t, func(t *testing.T, kind string) {
		b := shellBench(t, kind, tools.Shell{})
		for _, command := range []string{connect, fmt.Sprintf("cat /proc/%d/environ", os.Getpid()), fmt.Sprintf("kill -0 %d", os.Getpid()), "exec 3<>/dev/udp/1.1.1.1/53 && echo x >&3"} {
			if got := b.bash(command); !strings.HasPrefix(got, "error: ") || strings.Contains(got, "PATH=") {
				t.Errorf("%q: %q", command, got)
			}
		}
		if got := shellBench(t, kind, tools.Shell{Network: true}).bash(connect); got != "in\n" {
			t.Errorf("with the network allowed: %q", got)
		}
	})
}

// When a command has ended, nothing that it has started is left, whatever it has done to stay.
func TestNothingOutlivesItsCommand(t *testing.T) {
	for i, kind := range []string{"bubblewrap", "landlock", ""} {
		t.Run("confined by "+kind, func(t *testing.T) {
			b := benchOf(t, kind)
			var commands, marks []string
			for j, how := range []string{"sleep %s &", "nohup sleep %s >/dev/null 2>&1 &", "setsid sleep %s >/dev/null 2>&1 &", "(setsid env -i $(command -v sleep) %s &) ; sleep 0.1"} {
				mark := fmt.Sprintf("3%d%d%d.5", os.Getpid(), i, j)
				commands, marks = append(commands, fmt.Sprintf(how, mark)), append(marks, mark)
			}
			b.all(commands, func(command, got string) {
				if strings.HasPrefix(got, "error: ") {
					t.Errorf("%q: %q", command, got)
				}
				if slices.ContainsFunc(marks, func(m string) bool { return runs(t, m) }) {
					t.Errorf("what %q began is left", command)
				}
			})
		})
	}
}

// benchOf returns tools whose commands are confined in a certain way; empty: in none, and somebody is there.
func benchOf(t *testing.T, kind string) *bench {
	if kind != "" {
		return shellBench(t, kind, tools.Shell{})
	}
	withoutBubblewrap(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "hidden"), 0o700); err != nil { // in the project nothing can be hidden by Landlock
		t.Fatal(err)
	}
	return newBench(t, tools.Options{Dir: dir, Shell: tools.Shell{Attended: true, Env: env(), Hide: []string{filepath.Join(dir, "hidden")}}})
}

// runs reports whether a process with an argument runs.
func runs(t *testing.T, argument string) bool {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if b, _ := os.ReadFile(n); strings.Contains(string(b), "sleep\x00"+argument) {
			return true
		}
	}
	return false
}

// A command that is cancelled, or takes too long, is killed with its children, and what it has said is not lost.
func TestCommandsAreEnded(t *testing.T) {
	for i, kind := range []string{"bubblewrap", "landlock", ""} {
		t.Run("confined by "+kind, func(t *testing.T) {
			b := benchOf(t, kind)
			mark := fmt.Sprintf("4%d%d.5", os.Getpid(), i)
			line := "trap '' TERM INT HUP; setsid sleep " + mark + " & echo begun; sleep " + mark + "; echo not reached"
			got, within := "", 500*time.Millisecond
			for ; !strings.Contains(got, "begun") && within < testkit.Patience; within *= 2 { // until it has begun in time
				got = b.try("bash", args{"command": line, "timeout": within.Milliseconds()})
			}
			b.has(got, "error: begun\n", fmt.Sprintf("took longer than %v and was killed", within/2))
			ctx, cancel := context.WithCancel(t.Context())
			c := call(t, "bash", args{"command": line})
			c.Progress = func(string) { cancel() } // it has begun
			r, err := b.tool("bash").Run(ctx, c)
			b.has(fmt.Sprint(r.Text, err), "begun\n", "was interrupted")
			if runs(t, mark) {
				t.Error("a child is left")
			}
		})
	}
}

// Output is cut while it comes; all of it is in a file that the model is told of.
func TestLongOutput(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := shellBench(t, kind, tools.Shell{})
		got := b.bash("echo BEGIN; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo END")
		if len(got) > 300_000 || !strings.HasPrefix(got, "BEGIN\nxx") || !strings.HasSuffix(got, "x\nEND\n") {
			t.Errorf("%d bytes: %.50q", len(got), got)
		}
		b.has(got, "[... 2737867 bytes are left out here ...]")
		out, err := b.tool("bash").Run(t.Context(), call(t, "bash", args{"command": "seq 1 5000"}))
		if err != nil {
			t.Fatal(err)
		}
		_, file, _ := strings.Cut(out.Rest, "the output is in ")
		file, _, _ = strings.Cut(file, ":")
		if got := b.bash("sed -n '4321p;$p' " + file); got != "4321\n5000\n" {
			t.Errorf("from %s: %q", file, got)
		}
		if out, err = b.tool("bash").Run(t.Context(), call(t, "bash", args{"command": "echo short"})); err != nil || out.Rest != "" {
			t.Errorf("of a short output: %q, %v", out.Rest, err)
		}
	})
}

func TestProgressOfACommand(t *testing.T) {
	b := benchOf(t, "")
	told := make(chan string, 10)
	c := call(t, "bash", args{"command": "echo one; echo two; read < pipe"})
	c.Progress = func(text string) { told <- text }
	b.bash("mkfifo pipe")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if got := <-told; got != "two" {
			t.Errorf("progress: %q", got)
		}
		cancel()
	}()
	if r, err := b.tool("bash").Run(ctx, c); err != nil || !strings.HasPrefix(r.Text, "one\ntwo\n") {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// Where nothing can confine commands they are refused, unless somebody is there, who is told.
func TestNothingConfines(t *testing.T) {
	b := benchOf(t, "")
	b.has(b.preview("bash", args{"command": "echo x"}), "echo x\n(It is not confined")
	if got := b.bash("echo x"); got != "x\n" || b.set.Confined() != "" {
		t.Errorf("%q, confined by %q", got, b.set.Confined())
	}
	alone := newBench(t, tools.Options{Dir: b.dir, Shell: tools.Shell{Hide: []string{filepath.Join(b.dir, "hidden")}}})
	b.has(alone.bash("touch made"), "error: ", "cannot be confined", "install bubblewrap")
	if _, err := os.Stat(filepath.Join(b.dir, "made")); err == nil {
		t.Error("the command was run")
	}
}

// What programs keep for later goes where confined commands may write, also where the user's own place is named.
func TestCachesCanBeWritten(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		dir := seenDir(t)
		b := shellBench(t, kind, tools.Shell{Env: append(env(), "GOCACHE="+dir, "XDG_CACHE_HOME="+dir)})
		b.has(b.bash(`for d in "$GOCACHE" "$XDG_CACHE_HOME"; do mkdir -p "$d" && touch "$d/x" && echo "${d#"$TMPDIR"}"; done`), "/cache/go-build\n/cache\n")
	})
}

// Commands have the environment without what looks like a secret.
func TestTheEnvironmentHasNoSecrets(t *testing.T) {
	secrets := []string{"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GH_PAT", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "npm_config__authToken", "SSH_AUTH_SOCK", "MY_CREDENTIALS", "PGPASSWORD", "OPENAI_KEY_2", "SESSION_COOKIE"}
	kept := []string{"MONKEY", "AUTHOR", "GIT_AUTHOR_NAME", "KEYBOARD", "LC_ALL", "COMPASS"}
	for _, name := range append(secrets, kept...) {
		t.Setenv(name, "VALUE")
	}
	t.Setenv("DATABASE_URL", "postgres://user:VALUE@host/db")
	t.Setenv("SOMETHING", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")
	b := newBench(t, tools.Options{Shell: tools.Shell{Attended: true}})
	got := "\n" + b.bash("env")
	for _, name := range append(secrets, "DATABASE_URL", "SOMETHING") {
		if strings.Contains(got, "\n"+name+"=") {
			t.Errorf("%s is in it", name)
		}
	}
	for _, name := range append(kept, "PATH", "TMPDIR") {
		b.has(got, "\n"+name+"=")
	}
}
