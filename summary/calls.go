package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/tool"
)

// use takes in a tool call: its file or its line, and the texts it carries.
func (r *reader) use(o origin, b *decant.Block) {
	args := b.Text()
	c := &call{Call: tool.Parse(b.Name, args)}
	o.author, o.call = byCall, c
	values := r.values(args)
	if t, ok := c.about(); ok {
		o.path = t.Path
		o.group = r.touch(t, o.number)
	} else {
		c.text = c.line(values)
		o.group = r.newGroup(group{section: secCommands, number: o.number, call: c})
		r.mention(o, c.text)
	}
	for _, f := range c.Files {
		r.touch(f, o.number)
	}
	for _, v := range values {
		if !v.old && v.text != o.path {
			r.text(o, v.text)
		}
	}
	kept := o
	r.calls[b.CallID] = &kept
}

// result takes in what a call returned.
func (r *reader) result(o origin, b *decant.Block) {
	o.author = byTool
	text := b.Text()
	if from := r.calls[b.CallID]; from != nil {
		o.group, o.call, o.path = from.group, from.call, from.path
		c := from.call
		c.done = true
		c.outcome = tool.OutcomeOf(c.Call, text, b.Error)
		c.failed = b.Error || c.outcome.Bad()
	} else {
		o.group = r.newGroup(group{section: secCommands, number: o.number, call: &call{text: b.Name, done: true, failed: b.Error}})
	}
	r.text(o, tool.Body(text))
}

// about returns the one file that a call reads or changes, if there is just one.
func (c *call) about() (tool.Touch, bool) {
	if len(c.Files) != 1 {
		return tool.Touch{}, false
	}
	t := c.Files[0]
	return t, c.Class == tool.Read || c.Class == tool.Write || c.Class == tool.Edit || c.Effect == tool.Read
}

// A value is one string or number in the arguments of a call.
type value struct {
	name, text string
	old        bool // text that the call replaces
}

// values returns the strings and numbers in args, a JSON text, in order.
func (r *reader) values(args string) []value {
	src := []byte(args)
	if jsonspan.Validate(src) != nil {
		return []value{{text: args}}
	}
	var out []value
	s := jsonspan.Scan(src, 0)
	leaves(&s, src, "", &out)
	return out
}

func leaves(s *jsonspan.Scanner, src []byte, name string, out *[]value) {
	switch s.Kind() {
	case '{':
		for s.Open(); s.Next(); {
			n := string(s.Name())
			leaves(s, src, n, out)
		}
	case '[':
		for s.Open(); s.Next(); {
			leaves(s, src, name, out)
		}
	case '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		text := jsonspan.Unquote(s.Skip().Of(src))
		*out = append(*out, value{name: name, text: text, old: strings.HasPrefix(strings.ToLower(name), "old")})
	default:
		s.Skip()
	}
}

// maxHead is the longest heading line of a call in bytes.
const maxHead = 160

// line says in one line what was called.
func (c *call) line(values []value) string {
	var b strings.Builder
	if c.Command != "" {
		b.WriteString("$ ")
		b.WriteString(clip(firstLine(c.Command), maxHead))
		return b.String()
	}
	b.WriteString(c.Name)
	for _, v := range values {
		if b.Len()+len(v.text) > maxHead || strings.ContainsRune(v.text, '\n') {
			continue
		}
		b.WriteByte(' ')
		b.WriteString(v.text)
	}
	return b.String()
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i] + " …"
	}
	return s
}

// clip cuts s to about n bytes at a word, with a mark.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimSpace(s[:cutAt(s, n)]) + " …"
}

// touch records what a call does to a file and returns the file's group.
func (r *reader) touch(t tool.Touch, number int) int32 {
	g, ok := r.byFile[t.Path]
	if !ok {
		g = r.newGroup(group{section: secFiles, number: number, file: &file{path: t.Path}})
		r.byFile[t.Path] = g
	}
	f := r.groups[g].file
	switch t.Class {
	case tool.Read:
		f.read = number
	case tool.Edit:
		f.changed = number
	case tool.Write:
		f.created = number
	}
	return g
}

func (r *reader) newGroup(g group) int32 {
	r.groups = append(r.groups, g)
	return int32(len(r.groups) - 1)
}
