package permission

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A rule that allows a command with :* allows it with any further words, as long as these change nothing but what the
// command works on. Options by which a command runs another program, writes a file or takes other settings end the match.

// changers are words of the shell that change the shell itself, or evaluate their words: no rule allows them. Variables do not stay, so
// alone they are of no use, and beside another command they change what it does.
var changers = words(`eval source . exec command builtin read readarray mapfile declare typeset local export readonly unset let set
	shopt enable hash alias unalias trap getopts bind complete compgen compopt fc history umask ulimit coproc jobs suspend`)

// evaluators are programs that take their words, or a part of them, for commands, programs of their own or settings that name programs.
var evaluators = words(`awk gawk mawk nawk sed gsed ed ex vi vim nvim view emacs nano pico less more most man info pager make gmake bmake ninja
	ssh scp sftp rsync tar bsdtar cpio zip unzip 7z split socat nc ncat netcat telnet gdb lldb m4 dc gnuplot expect tclsh wish sqlite3 psql mysql
	curl wget gcc g++ cc c++ clang clang++ ld java javac ctags osascript powershell pwsh cmd at batch crontab screen tmux parallel`)

// interpreters run the file that their first word names. The words behind it are for that file.
var interpreters = words(`python python2 python3 pypy pypy3 node nodejs ruby perl php lua luajit Rscript groovy npx pnpx bunx pipx uvx`)

// launchers are, by program, the commands that run what their words name, or make such settings.
var launchers = map[string]map[string]bool{
	"git": words(`config bisect submodule filter-branch difftool mergetool help instaweb web--browse send-email daemon hook for-each-repo credential maintenance
		shell fast-import`),
	"go":    words("run tool env generate"),
	"npm":   words("exec x explore config set"),
	"pnpm":  words("dlx exec config"),
	"yarn":  words("dlx exec config"),
	"deno":  words("run eval x repl"),
	"bun":   words("run eval x exec repl"),
	"cargo": words("run"),
	"gh":    words("alias extension config"),
}

// tooWide says which command a rule that allows all that begins with some words would allow any program with; empty: it allows no more than
// its words say.
func tooWide(w []string, prefix bool) string {
	name := path.Base(w[0])
	kind := strings.TrimRight(name, "0123456789.") // python3.12
	first := ""
	if len(w) > 1 {
		first = w[1]
	}
	switch {
	case changers[name]:
		return name
	case !prefix:
		return ""
	case evaluators[name], wrappers[name] && ends[name] == "":
		return name
	case shells[name], interpreters[name], interpreters[kind]:
		if first == "-m" && len(w) > 2 && strings.HasPrefix(name, "py") || first != "" && first[0] != '-' {
			return ""
		}
		return name
	case launchers[name][first] && (len(w) < 3 || w[2][:min(1, len(w[2]))] == "-" || name == "git" || first == "eval"):
		return name + " " + first
	}
	return ""
}

// ends are the options, by command, that end the match of a rule; those of git are those of all its commands, and then of some. A long option
// may be shortened, a letter may stand among others, and one behind = is written in full, with one dash or two.
var ends = map[string]string{
	"git": `--output --output-directory --ext-diff --textconv --open-files-in-pager --upload-pack --receive-pack --exec --extcmd --config
		--template --separate-git-dir --edit-description --contents --export-marks --help`,
	"git grep": "-O", "git archive": "-o --remote", "git format-patch": "-o", "git rebase": "-x -i --interactive", "git clone": "-c -u", "git push": "--repo",
	"go": `=toolexec =vettool =exec =o =overlay =modfile =pkgdir =C =coverprofile =cpuprofile =memprofile =blockprofile =mutexprofile =trace =outputdir =c
		=gccgoflags =ldflags =gcflags =asmflags =compiler =mod =args =http =w =testlogfile =gocoverdir =cfg =debug-actiongraph =debug-runtime-trace =debug-trace
		=fuzzcachedir`,
	"cargo": "--config --manifest-path --target-dir --out-dir --artifact-dir --logfile --lockfile-path -C -Z",
	"npm": `--script-shell --shell --prefix --userconfig --globalconfig --node-options --git --node-gyp --editor --browser --viewer --call --init-module --cache
		--logs-dir --local-prefix --global --help --usage -C -c -g -h`,
	"gh":   "--web -w",
	"sort": "--output --compress-program --temporary-directory -o -T",
	"find": "=exec =execdir =ok =okdir =delete =fprint =fprint0 =fprintf =fls",
	"fd":   "--exec --exec-batch -x -X", "fdfind": "--exec --exec-batch -x -X",
	"rg": "--pre --hostname-bin", "tree": "-o -R", "date": "--set -s", "wait": "-p", "shuf": "--output -o", "file": "--compile -C",
	"yq": "--inplace --split-exp -i -s",
}

// dashed are the commands in which -- ends the options.
var dashed = words(`git sort npm rg fd fdfind shuf`)

// A word is one of a command as it is written.
type word struct {
	text  string
	exact bool // the shell makes text of it
	whole bool // it stays one word
	plain bool // whatever the shell makes of it, it does not begin with a dash
}

// wordOf reads a word.
func wordOf(w *syntax.Word) (out word) {
	if out.text, out.exact = literal(w); out.exact {
		return word{out.text, true, true, !strings.HasPrefix(out.text, "-")}
	}
	out.whole = true
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			out.whole = out.whole && !strings.ContainsAny(p.Value, "*?[{~")
			out.plain = out.plain || i == 0 && plainStart.MatchString(p.Value)
		case *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			out.whole, out.plain = false, false
			return out
		}
	}
	return out
}

// plainStart matches text that begins a word which is no option, whatever follows.
var plainStart = lazyregexp.New(`^(?:~/|[A-Za-z0-9_./:@%+,^])`)

// keeps reports whether the words of a command from the nth on let it do nothing else than its rule names.
func (c *command) keeps(n int) bool {
	name := path.Base(c.words[0])
	if check := checks[name]; check != nil {
		return check(c.all[1:])
	}
	if among := launchers[name]; n == 1 && among != nil {
		if len(c.words) < 2 || among[c.words[1]] || strings.ContainsAny(c.words[1][:min(1, len(c.words[1]))], "-+") {
			return len(c.all) == 1
		}
	}
	options, known := ends[name]
	if name == "git" && len(c.words) > 1 {
		options += " " + ends["git "+c.words[1]]
	}
	return !known || c.without(strings.Fields(options), n)
}

// without reports whether none of some options is among the words of a command from the nth on.
func (c *command) without(options []string, n int) bool {
	for i := n; i < len(c.all); i++ {
		w, before := c.all[i], c.all[i-1]
		switch {
		case w.exact && w.text == "--" && dashed[path.Base(c.words[0])] && before.plain: // else -- may be the value of an option
			return true
		case !w.exact && !w.plain && !(w.whole && c.isMessage(i)):
			return false // it may be any option
		case w.exact && slices.ContainsFunc(options, func(o string) bool { return isOption(o, w.text) }):
			return false
		}
	}
	return true
}

// isMessage reports whether a word is the message of a commit.
func (c *command) isMessage(i int) bool {
	return i == 3 && len(c.words) > 2 && c.words[1] == "commit" && (c.words[2] == "-m" || c.words[2] == "-am")
}

// isOption reports whether a word is an option, or may be.
func isOption(option, w string) bool {
	name, _, _ := strings.Cut(w, "=")
	bare := strings.TrimLeft(name, "-")
	switch {
	case len(w) < 2 || w[0] != '-':
		return false
	case option[0] == '=':
		return strings.TrimPrefix(bare, "test.") == option[1:]
	case strings.HasPrefix(option, "--"):
		return (w[1] == '-' && bare != "" || len(bare) > 2) && strings.HasPrefix(option[2:], bare) // some programs take a long option behind one dash
	}
	return w[1] != '-' && strings.Contains(w, option[1:])
}

// setters are words of the shell that set a variable by an option: also where a rule names all their words, they change what stands beside them.
var setters = words("printf test [ wait")

// checks are of commands whose words cannot be judged one by one.
var checks = map[string]func([]word) bool{"printf": printfKeeps, "test": testKeeps, "[": testKeeps, "uniq": oneOperand, "xxd": oneOperand}

// counts matches the format of printf that sets a variable, whose name is evaluated.
var counts = lazyregexp.New(`%[^A-Za-z%]*[hjlLqtz]*n`)

// printfKeeps reports whether printf prints and sets no variable.
func printfKeeps(w []word) bool {
	if len(w) > 0 && w[0].exact && w[0].text == "--" {
		w = w[1:]
	}
	return len(w) == 0 || w[0].exact && !strings.HasPrefix(w[0].text, "-") && !counts.MatchString(w[0].text)
}

// testKeeps reports whether test looks at no variable: the name of one is evaluated.
func testKeeps(all []word) bool {
	return !slices.ContainsFunc(all, func(w word) bool { return !w.exact || w.text == "-v" || w.text == "-R" })
}

// oneOperand reports whether a command that writes to its second operand has one at most.
func oneOperand(all []word) bool {
	operands := 0
	for _, w := range all {
		if !w.exact || w.text == "--" {
			return false
		}
		if !strings.HasPrefix(w.text, "-") || w.text == "-" {
			operands++
		}
	}
	return operands <= 1
}
