package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// doneWords are the words by which a model says that something was done.
var doneWords = []string{
	"done", "fixed", "implemented", "completed", "complete", "added", "resolved", "passes", "pass now",
	"finished", "removed", "updated", "merged", "closed", "works now", "shipped", "deployed", "完成", "已修复",
	"已解决",
}

// newestList leaves of the open items those of the newest list of them and what was said after it: who writes
// down what is left writes down all of it.
func (c *concluder) newestList() {
	items := map[int]int{} // by message
	newest := -1
	for i := range c.book.entries {
		if e := &c.book.entries[i]; e.sec == secOpen {
			at := c.book.groups[e.group].at
			if items[at]++; items[at] > 1 {
				newest = max(newest, at)
			}
		}
	}
	c.book.entries = slices.DeleteFunc(c.book.entries, func(e entry) bool {
		return e.sec == secOpen && c.book.groups[e.group].at < newest
	})
}

// settledLater reports whether an open item of message index was settled since: the model says that what it
// is about was done, or did it.
func (c *concluder) settledLater(s string, n int32, index int) bool {
	return c.ticked(s) || c.workedOn(n, index) || c.didLater(s, n, index) || c.saidLater(n, index)
}

// ticked reports whether an item names a task of the plan by its number that is finished.
func (c *concluder) ticked(s string) bool {
	return slices.ContainsFunc(c.tasks, func(t *task) bool {
		at := strings.Index(s, "#"+t.id)
		if t.id == "" || at < 0 || !t.finished() {
			return false
		}
		rest := s[at+1+len(t.id):]
		return rest == "" || rest[0] < '0' || rest[0] > '9'
	})
}

// workedOn reports whether edits behind message index have what an item names: it has been worked on since, and
// a list that says that it is left is out of date.
func (c *concluder) workedOn(n int32, index int) bool {
	var names []string
	for _, id := range c.book.lex.of(n) {
		if f := &c.book.lex.facts[id]; f.kind == decant.FactIdentifier && !f.Inner {
			names = append(names, f.text)
		}
	}
	left := len(names)
	for _, a := range c.book.src.acts {
		c.book.src.check()
		if a.index <= index || !a.done || a.failed || a.Class != tool.Edit && a.Class != tool.Write {
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return slices.ContainsFunc(a.values, func(v value) bool { return strings.Contains(v.text, name) })
		})
	}
	return left > 0 && 3*len(names) <= left
}

// steps are the things that an open item may ask for, and by what the outcome of a command tells that it was
// done.
var steps = []string{
	"commit", "push", "test", "lint", "build", "compile", "format", "fmt", "merge", "rebase", "typecheck",
}

// didLater reports whether the calls behind message index did all that an item asks for: the commands that it
// names, the steps that it speaks of, or the closing of its ticket.
func (c *concluder) didLater(s string, n int32, index int) bool {
	low := strings.ToLower(s)
	var want []string
	for _, w := range steps {
		if strings.Contains(low, w) {
			want = append(want, w)
		}
	}
	want = append(want, commandsIn(s)...)
	for _, a := range c.book.src.acts {
		c.book.src.check()
		if a.index <= index || !a.done || a.failed || a.Command == "" {
			continue
		}
		if c.closes(a, n) {
			return true
		}
		want = slices.DeleteFunc(want, func(w string) bool { return strings.Contains(a.Command, w) })
		if len(want) == 0 && (len(commandsIn(s)) > 0 || asksForSteps(low)) {
			return true
		}
	}
	return false
}

// commandsIn returns what a line has between backquotes and looks like a command.
func commandsIn(s string) (out []string) {
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 && strings.Contains(part, " ") {
			out = append(out, part)
		}
	}
	return out
}

// asksForSteps reports whether a line in small letters asks for such steps and for little else.
func asksForSteps(low string) bool {
	return slices.ContainsFunc(steps, func(w string) bool { return strings.Contains(low, w) }) &&
		(len(strings.Fields(low)) <= 14 || strings.Contains(low, "failing") || strings.Contains(low, "tests need"))
}

// closes reports whether a command closes or commits what a line is about, by its name.
func (c *concluder) closes(a *act, n int32) bool {
	if !strings.Contains(a.Command, "close") && !strings.Contains(a.Command, "git commit") {
		return false
	}
	return slices.ContainsFunc(c.book.lex.of(n), func(id int32) bool {
		f := &c.book.lex.facts[id]
		return !f.Inner && strings.Contains(a.Command, f.text)
	})
}

// saidLater reports whether the model says later that what a line is about was done.
func (c *concluder) saidLater(n int32, index int) bool {
	about := c.book.lex.of(n)
	words := c.book.lex.said(n)
	for _, t := range c.book.src.texts {
		if t.index <= index || t.author != byModel {
			continue
		}
		for _, k := range c.finished(t) {
			c.book.src.check()
			if sharesAny(about, c.book.lex.of(k)) || len(about) == 0 && 2*common(words, c.book.lex.said(k)) >= len(words) {
				return true
			}
		}
	}
	return false
}

// finished returns the lines of a text that say that something was done.
func (c *concluder) finished(t *text) []int32 {
	if t.finished == nil {
		t.finished = []int32{}
		for s := range pieces(t.body) {
			if done(s) {
				t.finished = append(t.finished, c.book.lex.line(s, true))
			}
		}
	}
	return t.finished
}

func done(s string) bool {
	low := strings.ToLower(s)
	return slices.ContainsFunc(doneWords, func(w string) bool { return strings.Contains(low, w) })
}

func sharesAny(a, b []int32) bool {
	return slices.ContainsFunc(a, func(x int32) bool { return slices.Contains(b, x) })
}

// common returns how many of the words a are among b.
func common(a, b []int32) (n int) {
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	return n
}
