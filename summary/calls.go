package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tool"
)

// use takes in a tool call: its file or its line, and the texts it carries.
func (r *reader) use(o origin, b *decant.Block) {
	args := secret.Mask(b.Text())
	r.size += len(args)
	c := &call{Call: tool.Parse(b.Name, args)}
	o.author, o.call = byCall, c
	values := r.values(args)
	listed := c.Class == tool.Todo && r.takePlan(o, values)
	if listed {
		values = nil
	}
	if t, ok := c.about(); ok {
		o.path = t.Path
		r.mention(o, t.Path)
		o.group = r.touch(t, o.number)
	} else {
		if !listed {
			c.text = c.line(values)
		}
		o.group = r.newGroup(group{section: secCommands, number: o.number, call: c})
		r.mention(o, c.text)
		r.arguments(o, c, values)
	}
	for _, f := range c.Files {
		r.touch(f, o.number)
	}
	for _, v := range values {
		if !v.old && v.text != o.path && !strings.HasSuffix(c.text, v.text) {
			r.text(o, v.text)
		}
	}
	r.tool(o, c, values)
	kept := o
	r.calls[b.CallID] = &kept
	if !listed {
		r.latest = &kept
	}
}

// arguments makes facts of the values that a tool was called with, whatever they look like: "economy",
// "SEA". A model that calls the tool again writes them again.
func (r *reader) arguments(o origin, c *call, values []value) {
	if c.Class != tool.Other {
		return
	}
	g := &r.groups[o.group]
	for _, v := range values {
		if len(v.text) < 3 || len(v.text) > 40 || strings.Count(v.text, " ") > 2 || !strings.Contains(c.text, v.text) {
			continue
		}
		_, known := r.ids[v.text]
		id := r.atom(v.text, fact.Span{Kind: decant.FactIdentifier})
		r.atoms[id].argument = r.atoms[id].argument || !known
		r.count(o, id)
		g.spans = append(g.spans, span{atom: id})
	}
}

// tool counts the names of a tool and of its arguments: an agent has to write them again.
func (r *reader) tool(o origin, c *call, values []value) {
	r.names = append(r.names[:0], c.Name...)
	last := ""
	for _, v := range values {
		if v.name != last && strings.IndexByte(v.name, '_') >= 0 && len(r.names) < maxHead && !strings.Contains(string(r.names), " "+v.name) {
			r.names = append(append(r.names, ' '), v.name...)
			last = v.name
		}
	}
	known := len(r.atoms)
	r.toolHead(o, string(r.names))
	for ; known < len(r.atoms); known++ {
		r.atoms[known].argument = true
	}
}

// toolHead keeps the longest line about a tool.
func (r *reader) toolHead(o origin, s string) {
	o.author = byCall
	r.mention(o, s)
	name, _, _ := strings.Cut(s, " ")
	g, ok := r.tools[name]
	if !ok {
		g = r.newGroup(group{section: secTools})
		r.tools[name] = g
	}
	if len(s) > len(r.groups[g].head) {
		r.groups[g].head = s
	}
}

// result takes in what a call returned.
func (r *reader) result(o origin, b *decant.Block) {
	o.author = byTool
	text := secret.Mask(b.Text())
	r.size += len(text)
	if from := r.calls[b.CallID]; from != nil {
		o.group, o.call, o.path = from.group, from.call, from.path
		c := from.call
		c.done = true
		c.outcome = tool.OutcomeOf(c.Call, text, b.Error)
		c.failed = b.Error || c.outcome.Bad()
	} else {
		o.group = r.newGroup(group{section: secCommands, number: o.number, call: &call{text: b.Name, done: true, failed: b.Error}})
	}
	body := tool.Body(text)
	if flat, ok := flatten(body); ok {
		body = flat
	}
	r.text(o, body)
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
		return []value{{text: args}} // a tool that takes bare text
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

// flatten writes a JSON text as lines without the punctuation: one line for the plain members of an
// object or an array. The second result is false when text is not JSON.
func flatten(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return "", false
	}
	src := []byte(text)
	if jsonspan.Validate(src) != nil {
		return "", false
	}
	f := flattener{src: src}
	s := jsonspan.Scan(src, 0)
	f.value(&s, "")
	f.end()
	return string(f.out), true
}

type flattener struct {
	src []byte
	out []byte
	row []byte
}

func (f *flattener) value(s *jsonspan.Scanner, name string) {
	switch s.Kind() {
	case '{':
		f.end()
		f.title(name)
		for s.Open(); s.Next(); {
			f.value(s, string(s.Name()))
		}
		f.end()
	case '[':
		for s.Open(); s.Next(); {
			f.value(s, name)
			name = ""
		}
	default:
		f.title(name)
		f.row = append(f.row, jsonspan.Unquote(s.Skip().Of(f.src))...)
	}
}

// title begins the next member of the row.
func (f *flattener) title(name string) {
	if len(f.row) > 0 && f.row[len(f.row)-1] != ' ' {
		f.row = append(f.row, ", "...)
	}
	if name != "" {
		f.row = append(append(f.row, name...), ' ')
	}
}

// end writes the row.
func (f *flattener) end() {
	if len(f.row) > 0 {
		f.out = append(append(f.out, f.row...), '\n')
		f.row = f.row[:0]
	}
}
