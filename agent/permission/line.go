package permission

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A line is what a shell is told to do.
type line struct {
	commands []command // all simple commands in it, wherever they stand
	inner    []command // what these are told to run, such as that of sudo
	plain    bool      // it is made of simple commands and nothing else that can act
	hidden   bool      // it runs commands that cannot be seen in it
	fault    error     // why it cannot be parsed
}

// A command is a simple command: the words that it begins with, as far as they stand there as they are.
type command struct {
	words    []string
	complete bool   // these are all
	all      []word // those that the shell expands among them; of a command within another one there are none
}

// longest is how many bytes a line may have. What is longer is asked about.
const longest = 64 << 10

// mostNested is how many lines are read in one, such as that of sh -c.
const mostNested = 30

// parseLine parses a line.
func parseLine(src string) line {
	left := mostNested
	return parseNested(src, &left)
}

// parseNested parses a line that may stand within another one. left is how many more of them are read.
func parseNested(src string, left *int) line {
	if *left--; len(src) > longest || *left < 0 {
		return line{fault: errors.New("it is too long")}
	}
	if strings.ContainsFunc(src, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }) {
		return line{fault: errors.New("it holds control characters")}
	}
	if continued(src) {
		return line{fault: errors.New("a # stands before a line that ends in a backslash")}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		return line{fault: err}
	}
	l := line{plain: true}
	syntax.Walk(file, func(n syntax.Node) bool {
		if n != nil && !plain(n) {
			l.plain = false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				l.commands = append(l.commands, commandOf(n))
			}
		case *syntax.FuncDecl:
			l.hidden = true // what its name does later cannot be told from the name
		}
		return true
	})
	for _, c := range l.commands {
		l.unwrap(c, left)
	}
	return l
}

// continued reports whether a # stands on a line that ends in a backslash. Where it begins a comment, the parser takes the
// next line for a part of it, and bash runs that.
func continued(src string) bool {
	for l := range strings.Lines(src) {
		if strings.HasSuffix(l, "\\\n") && strings.Contains(l, "#") {
			return true
		}
	}
	return false
}

// plain reports whether a node can do nothing but put simple commands together.
func plain(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.File, *syntax.Subshell, *syntax.Block, *syntax.Word, *syntax.Lit, *syntax.Comment:
		return true
	case *syntax.Stmt:
		return !n.Coprocess && !n.Disown
	case *syntax.BinaryCmd:
		return n.Op == syntax.AndStmt || n.Op == syntax.OrStmt || n.Op == syntax.Pipe
	case *syntax.CallExpr:
		return len(n.Assigns) == 0
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.CmdSubst:
		return !n.TempFile && !n.ReplyVar
	case *syntax.ParamExp:
		return simple(n)
	case *syntax.Redirect:
		return harmless(n)
	}
	return false
}

// simple reports whether an expansion is $x or ${x}.
func simple(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.NestedParam == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// harmless reports whether a redirection opens no file but /dev/null.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" {
		return false
	}
	to, known := literal(r.Word)
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut:
		return known && to == "/dev/null"
	case syntax.RdrIn:
		return known && to == "/dev/null" && r.N == nil
	case syntax.DplOut:
		return known && (to == "1" || to == "2")
	case syntax.Hdoc:
		return r.N == nil // what stands in it is looked at like the rest
	}
	return false
}

// commandOf returns the words that a simple command begins with.
func commandOf(n *syntax.CallExpr) command {
	c := command{complete: true}
	for _, a := range n.Args {
		w := wordOf(a)
		c.all = append(c.all, w)
		if c.complete = c.complete && w.exact; c.complete {
			c.words = append(c.words, w.text)
		}
	}
	return c
}

// literal returns a word in which the shell expands nothing.
func literal(w *syntax.Word) (string, bool) {
	var out strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[]{}~") {
				return "", false
			}
			out.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, `\`) {
					return "", false
				}
				out.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return out.String(), true
}

// wrappers run the command that their arguments are, or one among them.
var wrappers = words(`sudo doas su env xargs parallel command builtin exec nohup nice ionice time timeout setsid stdbuf watch strace
	chroot unshare find fd busybox script flock ssh caffeinate taskset setpriv runuser systemd-run`)

// shells run the line that follows their -c.
var shells = words(`sh bash dash zsh ksh fish ash mksh rbash`)

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// unwrap adds the commands that a command is told to run.
func (l *line) unwrap(c command, left *int) {
	if len(c.words) == 0 {
		l.hidden = true
		return
	}
	l.unwrapShell(c, left)
	if !wrappers[path.Base(c.words[0])] {
		return
	}
	l.hidden = l.hidden || !c.complete
	for i := 1; i < len(c.words); i++ { // which of the words begins the command depends on the options of each wrapper
		inner := command{words: c.words[i:], complete: c.complete}
		l.inner = append(l.inner, inner)
		l.unwrapShell(inner, left)
	}
}

// unwrapShell adds the commands that a shell, or a word of the shell that reads commands, is told to run.
func (l *line) unwrapShell(c command, left *int) {
	switch name := path.Base(c.words[0]); {
	case name == "source" || name == "." || name == "alias" || name == "trap":
		l.hidden = true
	case name == "eval":
		l.nested(strings.Join(c.words[1:], " "), c.complete, left)
	case shells[name]:
		i := slices.IndexFunc(c.words, func(w string) bool { return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "c") })
		if i < 0 || i+1 >= len(c.words) {
			l.hidden = true // it reads its commands from elsewhere
			return
		}
		l.nested(c.words[i+1], true, left)
	}
}

// nested adds the commands of a line within the line.
func (l *line) nested(src string, complete bool, left *int) {
	in := parseNested(src, left)
	l.inner = append(append(l.inner, in.commands...), in.inner...)
	l.hidden = l.hidden || in.hidden || in.fault != nil || !complete
}
