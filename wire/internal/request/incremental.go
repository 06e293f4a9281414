package request

import (
	"bytes"
	"slices"
	"sort"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// An earlier is the request before the one that is read. The zero value is none.
type earlier struct {
	*Body
	src []byte
}

// Next reads in src the request that comes after the one of the layout, which was read from was. It returns nil
// where it would have to be read as a whole.
func (b *Body) Next(was, src []byte) *source.Document {
	if b.twice {
		return nil
	}
	return (earlier{b, was}).parse(src)
}

// parse reads a request of the Messages API, after the earlier one if there is one, in one pass: it checks
// what it reads and takes over what is known. It returns nil when something is not in order; what that is,
// if it is wrong at all, is left to the slower way to say, which checks the whole text first.
func (was earlier) parse(src []byte) *source.Document {
	p := newAnthropicParser(was.builder(src))
	p.was = was
	p.sameSystem, p.sameTools = was.lacks("system"), was.lacks("tools")
	sc := jsonspan.Checked(src)
	if p.request(&sc) != nil || !sc.End() || p.Tired() {
		return nil
	}
	return p.finished()
}

// builder returns a builder over src. After an earlier request few of the names will be read again.
func (was *earlier) builder(src []byte) *source.Builder {
	if was.Body == nil {
		return source.NewBuilder(src)
	}
	return source.NewBuilderFor(src, 0)
}

// member returns where in the earlier request the value of a member stands, the last one of several.
func (was *earlier) member(name string) jsonspan.Span {
	if was.Body == nil {
		return jsonspan.Span{}
	}
	return was.Body.Member(was.src, name)
}

// lacks reports whether there is an earlier request and it has no such member.
func (was *earlier) lacks(name string) bool {
	return was.Body != nil && was.member(name).IsZero()
}

// repeats consumes the next value when it is the same as that of a member of the earlier request, and
// reports whether it is. A number or a literal, which goes on as far as it can, never is.
func (p *anthropicParser) repeats(sc *jsonspan.Scanner, name string) bool {
	value := p.was.member(name)
	was := value.Of(p.was.src)
	if len(was) < 2 || was[0] != '{' && was[0] != '[' && was[0] != '"' || !bytes.HasPrefix(p.Src[sc.Pos():], was) {
		return false
	}
	sc.Jump(sc.Pos() + len(was))
	return true
}

// unchanged returns how many messages from the first on the list shares with the earlier request's.
func (p *anthropicParser) unchanged() int {
	if p.was.Body == nil {
		return 0
	}
	list := p.was.List
	same := list.Start + Common(list.Of(p.was.src), p.Src[p.body.List.Start:])
	return sort.Search(len(p.was.Items), func(i int) bool { return p.was.Items[i].Span.End > same })
}

// keepSystem takes over the system prompt of the earlier request, which stood by bytes further ahead.
func (p *anthropicParser) keepSystem(by int) {
	p.body.system = slices.Clone(p.was.system)
	p.Conv.Fixed.System = slices.Clone(p.was.read.Fixed.System)
	for i := range p.body.system {
		s := &p.body.system[i]
		s.Move(by)
		p.Conv.Fixed.System[i].Content = p.ContentAt(*s)
	}
}

// keepTools takes over the tools of the earlier request, which stood by bytes further ahead.
func (p *anthropicParser) keepTools(by int) {
	p.body.tools = slices.Clone(p.was.tools)
	p.Conv.Fixed.Tools = slices.Clone(p.was.read.Fixed.Tools)
	for i := range p.body.tools {
		def := source.Moved(p.body.tools[i], by)
		p.body.tools[i] = def
		p.Conv.Fixed.Tools[i].Schema = p.Builder.Content(def, source.FormRaw)
	}
}

// keepMessages takes over the first n messages of the earlier request, and makes room for as many more as
// the rest of the list may hold, if what follows it is as long as it was.
func (p *anthropicParser) keepMessages(n int) {
	was := &p.was
	by := p.body.List.Start - was.List.Start
	size := len(p.Src) - by - was.Items[n-1].Span.End - (len(was.src) - was.List.End)
	more := source.Expected(max(size, 0))
	p.body.Items = append(make([]render.Item, 0, n+more), was.Items[:n]...)
	for i := range p.body.Items {
		p.body.Items[i].Move(by)
	}
	p.TakeOver(was.read.Messages[:n], was.Spans[:n], by, more)
}

// Common returns how many bytes a and b have in common from the start on.
func Common(a, b []byte) int {
	n := 0
	for step := 8 << 10; step > 0; step /= 2 {
		for m := n + step; m <= min(len(a), len(b)) && bytes.Equal(a[n:m], b[n:m]); m = n + step {
			n = m
		}
	}
	return n
}
