package permission_test

import (
	"math/rand/v2"
	"strings"
)

// A drawer draws rules and lines of a shell. Lines are often such as rules allow, and often nearly so.
type drawer struct{ *rand.Rand }

func (d *drawer) one(from ...string) string { return from[d.IntN(len(from))] }

// often reports true in so many of a hundred cases.
func (d *drawer) often(percent int) bool { return d.IntN(100) < percent }

// ruled are the commands that rules name. What they write lies in git's folder.
var ruled = []string{"git diff:*", "git log:*", "git show:*", "git status:*", "git:*", "git grep:*", "git branch:*", "git rev-parse:*", "git ls-files:*", "git blame:*", "git add:*", "git commit:*",
	"git archive:*", "ls:*", "ls", "cat:*", "head:*", "wc:*", "grep:*", "find:*", "find .:*", "sort:*", "uniq:*", "cut:*", "tr:*", "stat:*", "du:*", "date:*", "echo:*", "printf:*",
	"printf %s:*", "test:*", "true", "pwd", "cd:*", "cd src", "basename:*", "dirname:*", "realpath:*", "comm:*", "cmp:*", "nl:*", "wait:*", "type:*", "git log -1", "cat a.txt", "pushd:*"}

// rules draws rules.
func (d *drawer) rules() (out []string) {
	for range 2 + d.IntN(7) {
		out = append(out, "allow bash("+d.one(ruled...)+")")
	}
	if d.often(20) {
		out = append(out, "deny bash("+d.one("rm:*", "evil:*", "git push:*", "cat:*")+")")
	}
	return out
}

// line draws a line for rules.
func (d *drawer) line(rules []string) string {
	line := d.list(rules, 2)
	for range d.IntN(3) * d.IntN(2) {
		at := d.IntN(len(line) + 1)
		line = line[:at] + d.one(";", "|", "&", "\n", "$", "`", "\\", "'", `"`, "<", ">", "(", ")", "{", "}", "[", "]", "!", "#", "*", "?", "~", "=", " ", "\t", "\r", "-", "--", "\u00a0", "\u200b", "\uff1b", "\u2028",
			"$(evil)", "`evil`", "@", ",", ":", "%n", "é", "\x1b", "evil", "<<E", "<(", "$'", "${", "$((") + line[at:]
	}
	return strings.ToValidUTF8(line, "?")
}

// list draws commands, and what stands between them.
func (d *drawer) list(rules []string, depth int) string {
	out := d.command(rules, depth)
	for d.often(25) {
		out += d.one(" && ", " || ", " | ", "; ", "\n", " & ", "&&", "|", ";", " |& ") + d.command(rules, depth)
	}
	switch {
	case d.often(4):
		return "(" + out + ")"
	case d.often(4):
		return "{ " + out + "; }"
	case d.often(4):
		return "! " + out
	case d.often(2):
		return d.one("for i in 1; do ", "while false; do ", "if true; then ", "f() { ", "time ", "coproc ", "case x in x) ", "select i in 1; do ") + out + d.one("; done", "; fi", "; }", "", ";; esac")
	}
	return out
}

// command draws a command: its words, and redirections.
func (d *drawer) command(rules []string, depth int) string {
	var out strings.Builder
	if d.often(4) {
		out.WriteString(d.one("x=1 ", "PATH=. ", "GIT_EXTERNAL_DIFF=evil ", "IFS=/ ", "LESSOPEN='|evil' ", "a[$(evil)]=1 ", "BASH_ENV=evil.sh ", "x+=1 "))
	}
	text := d.one("evil", "./evil", "./ls", "eval evil", "env evil", "xargs evil", "command ls", "exec ls", "awk 'BEGIN{system(\"evil\")}'", "read PATH", "export PATH=.", "unset PATH", "declare x=1", "mapfile x", "let x=1",
		"set -k", "sh -c evil", "sed -n 1e a.txt", ". ./evil.sh", "source evil.sh", "hash -p ./evil ls", "alias ls=evil", "trap evil EXIT", "enable -n ls", "shopt -s extglob", "time ls", "find . -exec evil ;", "[[ -v x ]]", "((x=1))",
		"$x", "${x}", "\"$w\"", "git -c diff.external=evil diff", "builtin printf -v x y", "compgen -C evil", "jobs -x evil", "tar cf x --checkpoint=1 --checkpoint-action=exec=evil .")
	if d.often(88) {
		text = strings.TrimPrefix(rules[d.IntN(len(rules))], "allow bash(")
		text = strings.TrimSuffix(strings.TrimPrefix(text, "deny bash("), ")")
	}
	text, prefix := strings.CutSuffix(text, ":*")
	for i, w := range strings.Fields(text) {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(d.dressed(w))
	}
	if prefix || d.often(3) {
		for range d.IntN(5) {
			out.WriteString(d.one(" ", " ", " ", "  ", "\t", " \\\n") + d.word(rules, depth))
		}
	}
	if d.often(15) {
		out.WriteString(d.one(" >/dev/null", " 2>&1", " 2>/dev/null", " </dev/null", " >PWN", " >>PWN", " &>PWN", " <opts", " <<<\"$(evil)\"", " <<E\n$(evil)\nE\n", " <<'E'\n$(evil)\nE\n", " <<E\n$x ${y}\nE\n", " >&2", " >&PWN",
			" 3>PWN", " >|PWN", " <>PWN", " <<-E\n\tx\nE\n", " >/dev/stdout", " {x}>/dev/null", " >/dev/null/../PWN", " < <(evil)", " >/dev/tcp/127.0.0.1/1"))
	}
	return out.String()
}

// dressed writes a word in one of the ways that mean the same, or nearly.
func (d *drawer) dressed(w string) string {
	at := d.IntN(len(w) + 1)
	switch d.IntN(40) {
	case 0:
		return "'" + w + "'"
	case 1:
		return `"` + w + `"`
	case 2:
		return w[:at] + `""` + w[at:]
	case 3:
		return w[:at] + `\` + w[at:]
	case 4:
		return "$'" + w + "'"
	case 5:
		return `$"` + w + `"`
	case 6:
		return w[:at] + "\\\n" + w[at:]
	case 7:
		return w[:at] + "${none}" + w[at:]
	case 8:
		return "{" + w + ",x}"
	case 9:
		return w[:at] + "'" + w[at:] + "'"
	}
	return w
}

// words of commands that do what somebody would not think of, beside harmless ones.
var (
	options = []string{"--output=PWN", "--output PWN", "--outp=PWN", "-o PWN", "-oPWN", "--ext-diff", "--textconv", "-Oevil", "-O./evil", "--open-files-in-pager=evil", "-v 'x[$(evil)]'", "-vx", "-v PATH .", "-v", "-R x",
		"-exec evil ;", "-exec evil {} +", "-execdir evil \\;", "-ok evil \\;", "-delete", "-fprint PWN", "-fprintf PWN x", "-fls PWN", "--compress-program=evil", "-S 1k --compress-program=./evil", "-c core.pager=evil", "-C /",
		"--exec-path=.", "--edit-description", "-p", "-F opts", "-e", "--edit", "-m x", "-a", "--amend", "--template=opts", "--no-index /dev/null evil.sh", "--upload-pack=evil", "--config-env=x=y", "-n", "-l", "-la", "--stat",
		"--cached", "-1", "-n 1", "--oneline", "-r", "-u", "-name '*.txt'", "-type f", "-maxdepth 1", "-s now", "--set=now", "+%s", "--", "-- --output=PWN", "-S --", "-S -- $x", "--author -- $x", "--format=%n", "--format=tar", "-k1", "-t:", "-T .", "--files0-from=opts",
		"'%n' 'x[$(evil)]'", "%s", "'%s\\n'", "-f a.txt", "= b", "-eq 1", "'x[$(evil)]' -eq 1", "-p x", "-P evil", "--help", "-D x", "-i", "-x", "--exec=evil", "--remote=.", "--git-dir=src", "-N x", "--contents opts"}
	operands = []string{"a.txt", "src", "opts", ".", "HEAD", "HEAD~0", "main", "x", "evil.sh", "'a b'", "src/b.txt", "/dev/null", "1", "%s", "PWN", "'$(evil)'", `"a b"`, "-", "é", "\u00a0", "'x[$(evil)]'", "'-x'", "a.txt src", ":/"}
	expanded = []string{"*", "*.txt", "?*", "-*", "[-]*", "src/*", "./*", "$x", "${y}", `"$x"`, `"$y"`, "$z", "$w", `"$w"`, "$none", "${none}x", "a$x", `a"$x"`, "~", "~/x", "~+", "{a,b}", "{--output=PWN,a}", "{-o,PWN}", "src/{a,b}", "a{1..3}", "$HOME",
		`$'\x2do'`, "${x:-a}", "${x@P}", "${!x}", "${#x}", "${x/a/b}", "${y:=1}", "$((1))", "$((a[$(evil)]))", "${a[$(evil)]}", `"${x}"`, "$*", "$@", "$1", "$_", "$$", "<(evil)", ">(evil)", "@(a|b)", "$[1]", `\-o`, `"-"o`, "-''o", "$(<opts)", "`<opts`",
		"$(cat opts)", `"$(cat opts)"`, "`cat opts`", "$(ls)", `"$(echo -vx)"`, "${ ls; }"}
)

// word draws a word of a command, or an option with its value.
func (d *drawer) word(rules []string, depth int) string {
	switch n := d.IntN(100); {
	case n < 28:
		return d.one(options...)
	case n < 68:
		return d.one(operands...)
	case n < 88 || depth == 0:
		return d.one(expanded...)
	case n < 92:
		return d.dressed(d.one("a.txt", "src", "--output=PWN", "-o"))
	}
	inner := d.list(rules, depth-1)
	return d.one("$("+inner+")", `"$(`+inner+`)"`, "`"+inner+"`", "a$("+inner+")")
}
