package summary

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/internal/tool"
)

// finish writes the heads of files and calls, once all is known about them.
func (r *reader) finish() {
	r.digest.prose /= float64(max(r.size, 1))
	r.chinese = r.isChinese()
	r.ending()
	resolved := map[string]bool{}
	for i := len(r.groups) - 1; i >= 0; i-- {
		g := &r.groups[i]
		switch {
		case g.file != nil:
			g.head = g.file.head()
			g.says = g.file.changed+g.file.created > 0
		case g.call != nil:
			g.head = g.call.head(g.number)
			if g.call.Command != "" && g.call.done {
				if g.call.failed && !resolved[g.call.Command] {
					g.section = secErrors
				}
				resolved[g.call.Command] = true
			}
		}
		if g.head == "" {
			continue
		}
		if g.file == nil {
			g.says = r.wordsOf(g.head, false) >= 2 || g.call != nil && g.call.Class == tool.Other
		}
		g.cost = float32(estimate(g.head)) + 1
		r.found = fact.Scan(r.found[:0], g.head)
		for _, f := range r.found {
			id := r.atom(g.head[f.Start:f.End], f)
			if r.atoms[id].seen.Messages == 0 {
				r.count(origin{author: byTool}, id)
			}
			g.spans = append(g.spans, span{atom: id})
			if g.file != nil && g.says {
				r.atoms[id].headed = true
			}
		}
	}
}

// head says what became of the file: how it was made and changed, and read since.
func (f *file) head() string {
	var b strings.Builder
	b.WriteString(f.path)
	sep := " file "
	for _, x := range [...]struct {
		what string
		n    int
	}{{"created", f.created}, {"updated", f.changed}, {"read", f.read}} {
		if x.n > 0 && (x.what != "read" || x.n > max(f.created, f.changed)) {
			b.WriteString(sep + x.what + " m" + strconv.Itoa(x.n))
			sep = ", "
		}
	}
	return b.String()
}

// head says what was called and how it ended.
func (c *call) head(number int) string {
	if c.text == "" {
		return ""
	}
	s := "m" + strconv.Itoa(number) + " " + c.text
	switch {
	case !c.done:
		return s
	case c.outcome.HasExit && c.outcome.Exit != 0:
		s += " → exit " + strconv.Itoa(c.outcome.Exit)
	case c.failed:
		s += " → failed"
	case c.Test && c.outcome.Passed > 0:
		s += " → " + strconv.Itoa(c.outcome.Passed) + " passed"
	case c.Test:
		s += " → ok"
	}
	if c.failed && c.outcome.FirstError != "" {
		s += ": " + clip(c.outcome.FirstError, 100)
	}
	return s
}

// ending makes the last section: what the model said last, and the newest call.
func (r *reader) ending() {
	for i := len(r.groups) - 1; i >= 0; i-- {
		g := &r.groups[i]
		if g.number < r.to-4 {
			break
		}
		if g.section == secSaid || g.section == secDecided || g.section == secOpen {
			g.section = secLast
		}
	}
	if r.plan != nil {
		r.newGroup(group{section: secOpen, number: r.plan.number, head: r.plan.head("m" + strconv.Itoa(r.plan.number)), value: planValue})
	}
	o := r.latest
	switch {
	case o == nil:
	case o.path == "":
		r.groups[o.group].section = secLast
	default:
		c := *o.call
		c.text = c.Name + " " + o.path[strings.LastIndexByte(o.path, '/')+1:]
		r.newGroup(group{section: secLast, number: o.number, call: &c})
	}
}
