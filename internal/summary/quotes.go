package summary

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/code"
	"github.com/decantdev/decant/internal/tool"
)

// Lines of results and of what calls wrote compete with their facts alone, and a little so that a large
// budget is used.
const (
	lineValue    = .0003
	commandValue = .02
	actionValue  = .1 // of a call of a tool that is none of the usual ones: something was done in the world
)

// quotes takes in the lines of calls and of results, each group under the file, the command or the search
// that it comes from.
func (b *book) quotes() {
	files := map[string]int32{}
	for _, q := range b.source.quotes {
		g := b.heading(q.head, q.index)
		for _, s := range q.lines {
			b.quote(s, g, q.index, decant.AuthorTool)
		}
	}
	for i, a := range b.acts {
		if a.said != "" || a.planned {
			continue
		}
		g := b.groupOf(a, i, files)
		for _, v := range a.values {
			if !v.old && !b.inHead(g, a, v.text) {
				b.quote(v.text, g, a.index, decant.AuthorModel)
			}
		}
		if !b.noResults && (a.failed || a.Class != tool.Edit && a.Class != tool.Write) { // that it was done, the trail says
			b.quote(a.result, g, a.index+1, decant.AuthorTool)
		}
	}
	for _, t := range b.texts {
		if t.author == byClient && !b.noResults {
			b.quote(t.body, b.heading(cite(t.number)+"note of the client:", t.index), t.index, decant.AuthorTool)
		}
	}
}

// groupOf returns the group of a call: that of the file that it is about, or its own.
func (b *book) groupOf(a *act, at int, files map[string]int32) int32 {
	if p := a.file(); p != "" {
		g, ok := files[p]
		if !ok {
			g = b.heading(p+":", at)
			files[p] = g
		}
		b.groups[g].at = at
		b.see(b.groups[g].line, a.index, decant.AuthorModel)
		return g
	}
	g := b.heading(a.head(), at)
	if b.groups[g].line >= 0 {
		b.see(b.groups[g].line, a.index, decant.AuthorModel)
	}
	b.groups[g].value = commandValue
	if a.Class == tool.Other {
		b.groups[g].value = actionValue
	}
	b.add(entry{sec: secQuotes, group: g, line: b.line("", false)})
	return g
}

// inHead reports whether the heading of a call's group says a value of its arguments already, or the value
// is a setting of the call that says nothing: a number, a timeout, the folder in which a command runs.
func (b *book) inHead(g int32, a *act, v string) bool {
	if a.Class == tool.Other {
		return strings.Contains(b.groups[g].head, v)
	}
	short := !strings.Contains(v, "\n")
	if v == a.Command {
		return short && strings.Contains(b.groups[g].head, v)
	}
	return short && (a.Class == tool.Shell || strings.Contains(b.groups[g].head, v) || !strings.Contains(v, " "))
}

// file returns the one file that a call shows or changes, as the model wrote it; empty when there is none
// or more than one.
func (a *act) file() string {
	if len(a.Files) != 1 || a.Class == tool.Shell && a.Effect != tool.Read {
		return ""
	}
	return a.Files[0].Path
}

// maxHead is the longest heading of a call in bytes.
const maxHead = 200

// head says in one line what was called and how it ended.
func (a *act) head() string {
	s := cite(a.number) + a.title()
	switch o := &a.outcome; {
	case !a.done:
		return s
	case o.HasExit && o.Exit != 0:
		s += " → exit " + strconv.Itoa(o.Exit)
	case a.failed:
		s += " → failed"
	case a.Test && o.Passed > 0:
		s += " → " + strconv.Itoa(o.Passed) + " passed"
	case a.Test:
		s += " → ok"
	}
	return s
}

// title says what was called: a command, or the tool with its short arguments.
func (a *act) title() string {
	if a.Command != "" {
		return "$ " + firstLine(a.Command)
	}
	s := a.Name
	for _, v := range a.values {
		if len(s)+len(v.text) <= maxHead && !strings.ContainsRune(v.text, '\n') {
			s += " " + v.text
		}
	}
	return s
}

// firstLine returns the first line of s, with a mark when there are more. A very long one is cut at a word.
func firstLine(s string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line = strings.TrimSpace(line); len(line) > 2*maxHead {
		line, rest = line[:wordBefore(line, 2*maxHead)], "more"
	}
	if rest != "" {
		line += " …"
	}
	return line
}

// quote takes in the lines of a text as candidates under the heading of group g.
func (b *book) quote(text string, g int32, index int, by decant.Author) {
	for s := range pieces(text) {
		if code.Routine(s) {
			continue
		}
		n := b.line(s, false)
		b.see(n, index, by)
		b.add(entry{sec: secQuotes, group: g, text: s, line: n, value: lineValue})
	}
}
