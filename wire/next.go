package wire

import (
	"bytes"
	"sort"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// ParseNext reads src as a document of d's format, as [ParseAs] does. It is meant for the request that
// comes after that of d in the same conversation, which repeats most of its bytes: system prompt, tools,
// and messages from the first on that are the same as in d, byte for byte, are neither checked nor read
// again, wherever in src they stand. [Document.Kept] of the result says how many messages these are.
//
// Apart from Kept the result is what ParseAs returns, error included, for every src. It refers to src
// alone: it shares nothing that could change with d, and keeps none of d's bytes. Only requests of the
// Messages API are read faster than by ParseAs.
func (d *Document) ParseNext(src []byte) (*Document, error) {
	if l, ok := d.layout.(*body); ok && d.Format == Anthropic && !l.twice {
		b := &builder{src: src, names: map[string]string{}, openCall: map[string]int{}}
		p := nextParser{anthropicParser: anthropicParser{builder: b}, was: l, old: d.Source}
		if next := p.parse(); next != nil {
			return next, nil
		}
	}
	return ParseAs(d.Format, src)
}

// A nextParser reads a request of the Messages API that repeats an earlier one. What it does not take
// over it checks before it reads it. It gives up on whatever is not in order, so that the parser of whole
// requests is the only one that says what is wrong.
type nextParser struct {
	anthropicParser
	was *body  // the earlier request
	old []byte // its source

	sameSystem, sameTools bool // what both requests have, or neither
}

// parse returns nil when something is not in order.
func (p *nextParser) parse() *Document {
	p.sameSystem, p.sameTools = p.before("system").IsZero(), p.before("tools").IsZero()
	if !p.request() || p.body.list.IsZero() || p.steps > patience {
		return nil
	}
	p.fixed()
	if p.conv.Agent != p.was.read.Agent { // the authors depend on it
		for i := range p.conv.Messages[:p.kept] {
			forgetAuthors(p.conv.Messages[i].Blocks)
		}
	}
	d := p.bodyDocument(Anthropic, p.body)
	d.Kept = p.kept
	return d
}

func forgetAuthors(bs []decant.Block) {
	for i := range bs {
		bs[i].Author = ""
	}
}

// before returns where in the earlier request the value of a member stands.
func (p *nextParser) before(name string) jsonspan.Span { return last(p.old, p.was.members, name) }

// request consumes the whole request.
func (p *nextParser) request() bool {
	sc := jsonspan.Scan(p.src, 0)
	for sep := byte('{'); sc.Kind() == sep; sep = ',' {
		sc = jsonspan.Scan(p.src, sc.Pos()+1)
		end, ok := p.next(sc)
		if !ok {
			return false
		}
		sc = jsonspan.Scan(p.src, end)
	}
	if sc.Kind() != '}' {
		return false
	}
	rest := jsonspan.Scan(p.src, sc.Pos()+1)
	return rest.Pos() == len(p.src)
}

// next consumes the member of the request at sc and returns where it ends.
func (p *nextParser) next(sc jsonspan.Scanner) (end int, ok bool) {
	m := member{name: sc.Pos()}
	if m.value.Start, ok = jsonspan.CheckName(p.src, sc.Pos()); !ok {
		return 0, false
	}
	ahead := sc
	switch name := string(ahead.Name()); name {
	case "messages":
		m.value.End, ok = p.list(m.value.Start)
	case "system":
		was := p.before(name)
		if p.sameSystem = repeats(p.src[m.value.Start:], was.Of(p.old)); !p.sameSystem {
			return p.other(sc, m.value.Start)
		}
		m.value.End = m.value.Start + was.Len()
		p.keepSystem(m.value.Start - was.Start)
	case "tools":
		was := p.before(name)
		if p.sameTools = repeats(p.src[m.value.Start:], was.Of(p.old)); !p.sameTools {
			return p.other(sc, m.value.Start)
		}
		m.value.End = m.value.Start + was.Len()
		p.tools = m.value
	default:
		return p.other(sc, m.value.Start)
	}
	p.body.members = append(p.body.members, m)
	return m.value.End, ok
}

// other consumes a member that is not as it was.
func (p *nextParser) other(sc jsonspan.Scanner, value int) (end int, ok bool) {
	if end, ok = jsonspan.Check(p.src, value); !ok {
		return 0, false
	}
	err := p.member(&sc)
	return end, err == nil && sc.Pos() == end
}

// repeats reports whether src begins with a value that is the same as an earlier one, and that ends where
// that one ended, which numbers and literals do not tell.
func repeats(src, was []byte) bool {
	return len(was) > 1 && (was[0] == '{' || was[0] == '[' || was[0] == '"') && bytes.HasPrefix(src, was)
}

// list consumes the list of messages and returns where it ends.
func (p *nextParser) list(at int) (end int, ok bool) {
	p.restart()
	p.body.list, p.body.items = jsonspan.Span{Start: at}, nil
	sc := jsonspan.Scan(p.src, at)
	if sc.Kind() != '[' {
		return 0, false
	}
	n := p.unchanged(at)
	if n == 0 {
		end, ok = jsonspan.Check(p.src, at)
		sc.Open()
	} else {
		by := at - p.was.list.Start
		last := p.was.items[n-1].span.End + by
		if end, ok = jsonspan.CheckRest(p.src, last); ok {
			p.keepMessages(n, by, expected(p.src[last:end]))
		}
		sc = jsonspan.Scan(p.src, last)
	}
	if !ok || p.elements(&sc) != nil {
		return 0, false
	}
	return end, sc.Pos() == end
}

// unchanged returns how many messages from the first on the list at an offset shares with the earlier
// request's.
func (p *nextParser) unchanged(at int) int {
	list := p.was.list
	same := list.Start + common(list.Of(p.old), p.src[at:])
	return sort.Search(len(p.was.items), func(i int) bool { return p.was.items[i].span.End > same })
}

// common returns how many bytes a and b have in common from the start on.
func common(a, b []byte) int {
	n := 0
	for step := 8 << 10; step > 0; step /= 2 {
		for m := n + step; m <= min(len(a), len(b)) && bytes.Equal(a[n:m], b[n:m]); m = n + step {
			n = m
		}
	}
	return n
}
