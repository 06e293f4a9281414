package wire

import (
	"bytes"
	"sort"

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
		if next := (earlier{l, d.Source}).parse(src); next != nil {
			return next, nil
		}
	}
	return ParseAs(d.Format, src)
}

// Common returns how many bytes from the first on Source and src have in common. Of several documents that
// src may come after, the one that has most in common with it is the one for [Document.ParseNext].
func (d *Document) Common(src []byte) int { return common(d.Source, src) }

// An earlier is the request before the one that is read. The zero value is none.
type earlier struct {
	*body
	src []byte
}

// parse reads a request of the Messages API, after the earlier one if there is one, in one pass: it checks
// what it reads and takes over what is known. It returns nil when something is not in order; what that is,
// if it is wrong at all, is left to the slower way to say, which checks the whole text first.
func (was earlier) parse(src []byte) *Document {
	p := anthropicParser{was: was}
	if was.body == nil {
		p.builder = newBuilder(src)
	} else { // few of the names will be read again
		p.builder = &builder{src: src, names: map[string]string{}, openCall: map[string]int{}}
	}
	p.sameSystem, p.sameTools = was.lacks("system"), was.lacks("tools")
	sc := jsonspan.Checked(src)
	if p.request(&sc) != nil || !sc.End() || p.steps > patience {
		return nil
	}
	return p.finished()
}

// member returns where in the earlier request the value of a member stands, the last one of several.
func (was *earlier) member(name string) jsonspan.Span {
	if was.body == nil {
		return jsonspan.Span{}
	}
	return last(was.src, was.members, name)
}

// lacks reports whether there is an earlier request and it has no such member.
func (was *earlier) lacks(name string) bool { return was.body != nil && was.member(name).IsZero() }

// repeats consumes the next value when it is the same as that of a member of the earlier request, and
// reports whether it is. A number or a literal, which goes on as far as it can, never is.
func (p *anthropicParser) repeats(sc *jsonspan.Scanner, name string) bool {
	value := p.was.member(name)
	was := value.Of(p.was.src)
	if len(was) < 2 || was[0] != '{' && was[0] != '[' && was[0] != '"' || !bytes.HasPrefix(p.src[sc.Pos():], was) {
		return false
	}
	sc.Jump(sc.Pos() + len(was))
	return true
}

// unchanged returns how many messages from the first on the list shares with the earlier request's.
func (p *anthropicParser) unchanged() int {
	if p.was.body == nil {
		return 0
	}
	list := p.was.list
	same := list.Start + common(list.Of(p.was.src), p.src[p.body.list.Start:])
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
