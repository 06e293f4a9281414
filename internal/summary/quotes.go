package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// A quoter takes in the lines of calls and of results, each group under the file, the command or the search
// that it comes from.
type quoter struct {
	book  *book
	files map[string]int32 // the groups of files, by path
}

// takeQuotes takes in all lines that can be quoted.
func (b *book) takeQuotes() {
	q := quoter{book: b, files: map[string]int32{}}
	for _, old := range b.src.quotes {
		g := b.heading(old.head, old.index)
		b.quote(strings.Join(old.lines, "\n"), g, old.index, decant.AuthorTool)
	}
	for i, a := range b.src.acts {
		if a.said == "" && !a.planned {
			q.call(a, i)
		}
	}
	for _, t := range b.src.texts {
		if t.author == byClient && !b.noResults {
			b.quote(t.body, b.heading(cite(t.number)+"note of the client:", t.index), t.index, decant.AuthorTool)
		}
	}
}

// call takes in the lines of one call and of what it returned.
func (q *quoter) call(a *act, at int) {
	g := q.groupOf(a, at)
	for _, v := range a.values {
		if !v.old && !q.inHead(g, a, v.text) {
			q.book.quote(v.text, g, a.index, decant.AuthorModel)
		}
	}
	if !q.book.noResults && (a.failed || a.Class != tool.Edit && a.Class != tool.Write) { // that it was done, the trail says
		q.book.quote(a.result, g, a.index+1, decant.AuthorTool)
	}
}

// groupOf returns the group of a call: that of the file that it is about, or its own.
func (q *quoter) groupOf(a *act, at int) int32 {
	if p := a.file(); p != "" {
		g, ok := q.files[p]
		if !ok {
			g = q.book.heading(p+":", at)
			q.files[p] = g
		}
		q.book.groups[g].at = at
		q.book.lex.see(q.book.groups[g].line, a.index, decant.AuthorModel)
		return g
	}
	g := q.book.heading(a.head(), at)
	if q.book.groups[g].line >= 0 {
		q.book.lex.see(q.book.groups[g].line, a.index, decant.AuthorModel)
	}
	q.book.groups[g].value = commandValue
	if a.Class == tool.Other {
		q.book.groups[g].value = actionValue
	}
	q.book.add(entry{sec: secQuotes, group: g, line: q.book.lex.line("", false)})
	return g
}

// inHead reports whether the heading of a call's group says a value of its arguments already, or the value
// is a setting of the call that says nothing: a number, a timeout, the folder in which a command runs.
func (q *quoter) inHead(g int32, a *act, v string) bool {
	if a.Class == tool.Other {
		return strings.Contains(q.book.groups[g].head, v)
	}
	short := !strings.Contains(v, "\n")
	if v == a.Command {
		return short && strings.Contains(q.book.groups[g].head, v)
	}
	return short && (a.Class == tool.Shell || strings.Contains(q.book.groups[g].head, v) || !strings.Contains(v, " "))
}
