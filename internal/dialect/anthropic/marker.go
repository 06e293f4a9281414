package anthropic

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// What the prompt cache allows (docs/reference/anthropic.md, "The prompt cache").
const (
	mostMarkers = 4
	lookBack    = 20 // blocks that a lookup covers from each marker, which counts as one
)

var ephemeral = []byte(`{"type":"ephemeral"}`)

// Mark implements dialect.Marker. A client that marks nothing behind its messages gets a marker at the end of
// the request, one where the request before has ended, and one behind system prompt and tools if it has none
// there. One that marks its messages gets a marker where the request before has ended if a lookup would not
// come so far. A first request is marked only where it has tools that the model may choose among, so that
// others are likely to follow.
func (Dialect) Mark(body []byte) ([]byte, dialect.Marked) {
	if jsonspan.Validate(body) != nil || len(body) == 0 {
		return body, dialect.Marked{}
	}
	r := &markable{body: body}
	if r.read(); r.whole || r.used >= mostMarkers || len(r.ends) == 0 {
		return body, dialect.Marked{}
	}
	if r.marked {
		r.bridge()
	} else if r.goesOn() {
		r.places()
	}
	out := dialect.Marked{
		Added: len(r.edits), Messages: !r.marked, Fixed: r.fixed, Turns: r.turns, First: r.first.Of(body),
	}
	if len(r.edits) == 0 {
		return body, out
	}
	return r.splice(), out
}

// A markable is the part of a request that decides where markers may go.
type markable struct {
	body   []byte
	used   int         // markers that the client has set
	whole  bool        // it has set one for the request as a whole
	fixed  bool        // some are on system prompt or tools
	marked bool        // some are on messages
	blocks []markBlock // of the messages
	// the last blocks that can carry a marker of the last messages before each answer, in order; -1: none can
	ends  []int
	turns int           // answers of the model
	first jsonspan.Span // message
	edits []markEdit
}

type markBlock struct {
	at   jsonspan.Span
	bare bool   // it is the whole content, a string
	can  bool   // it can carry a marker
	life string // of its own marker, empty: it has none
}

type markEdit struct {
	at   jsonspan.Span
	text []byte
}

// read finds the blocks and markers of the request.
func (r *markable) read() {
	if c := jsonspan.Member(r.body, 0, "cache_control"); !c.IsZero() && r.body[c.Start] == '{' {
		r.whole = true
		return
	}
	for _, name := range [...]string{"tools", "system"} {
		for _, b := range r.list(jsonspan.Member(r.body, 0, name)) {
			r.fixed = r.count(b) != "" || r.fixed
		}
	}
	end, answer := -1, true // of the messages since the last answer
	for s := r.elements(jsonspan.Member(r.body, 0, "messages")); s.Next(); {
		m := s.Skip()
		if r.body[m.Start] != '{' {
			continue
		}
		if r.first.IsZero() {
			r.first = m
		}
		if role(r.body, m) == "assistant" {
			r.turns++
			r.content(m)
			if !answer {
				r.ends, end, answer = append(r.ends, end), -1, true
			}
			continue
		}
		answer = false
		if last := r.content(m); last >= 0 {
			end = last
		}
	}
	if !answer {
		r.ends = append(r.ends, end)
	}
}

// content notes the blocks of a message, and returns the last that can carry a marker, -1 for none.
func (r *markable) content(m jsonspan.Span) (last int) {
	last = -1
	at := jsonspan.Member(r.body, m.Start, "content")
	if at.IsZero() {
		return last
	}
	if r.body[at.Start] == '"' {
		r.blocks = append(r.blocks, markBlock{at: at, bare: true, can: says(at.Of(r.body))})
		if r.blocks[len(r.blocks)-1].can {
			last = len(r.blocks) - 1
		}
		return last
	}
	for s := r.elements(at); s.Next(); {
		b := s.Skip()
		if r.body[b.Start] != '{' {
			continue
		}
		life := r.count(b)
		r.marked = r.marked || life != ""
		r.blocks = append(r.blocks, markBlock{at: b, can: carries(b.Of(r.body)), life: life})
		if r.blocks[len(r.blocks)-1].can {
			last = len(r.blocks) - 1
		}
	}
	return last
}

// elements returns a scanner in front of the first element of a list; one that has none for anything else.
func (r *markable) elements(at jsonspan.Span) jsonspan.Scanner {
	if at.IsZero() || r.body[at.Start] != '[' {
		return elementsOf([]byte("[]"), jsonspan.Span{})
	}
	return elementsOf(r.body, at)
}

// list returns the objects of a list.
func (r *markable) list(at jsonspan.Span) (out []jsonspan.Span) {
	for s := r.elements(at); s.Next(); {
		if b := s.Skip(); r.body[b.Start] == '{' {
			out = append(out, b)
		}
	}
	return out
}

// count counts the markers of a block and of what is in it, and returns the lifetime of the last, empty for none.
func (r *markable) count(b jsonspan.Span) (life string) {
	if !bytes.Contains(b.Of(r.body), []byte("cache_control")) {
		return ""
	}
	for _, inner := range r.list(jsonspan.Member(r.body, b.Start, "content")) {
		life = cmp.Or(r.count(inner), life)
	}
	c := jsonspan.Member(r.body, b.Start, "cache_control")
	if c.IsZero() || r.body[c.Start] != '{' {
		return life
	}
	r.used++
	return cmp.Or(jsonspan.MemberText(c.Of(r.body), "ttl"), "5m")
}

// says reports whether a JSON string has more than white space.
func says(raw []byte) bool {
	for i := 1; i < len(raw)-1 && raw[i] < 0x80 && raw[i] != '\\'; i++ {
		if raw[i] > ' ' {
			return true
		}
	}
	return len(raw) > 2 && len(bytes.TrimSpace([]byte(jsonspan.Unquote(raw)))) > 0
}

// carries reports whether a block can have a marker: empty texts and thinking cannot, and of what is not
// known nobody can say.
func carries(block []byte) bool {
	switch jsonspan.MemberText(block, "type") {
	case "text":
		t := jsonspan.Member(block, 0, "text")
		return !t.IsZero() && says(t.Of(block))
	case "tool_use", "tool_result", "image", "document":
		return true
	}
	return false
}

// goesOn reports whether others are likely to follow the request.
func (r *markable) goesOn() bool {
	if r.turns > 0 {
		return true
	}
	choice := jsonspan.Member(r.body, 0, "tool_choice")
	forced := !choice.IsZero() && r.body[choice.Start] == '{' && jsonspan.MemberText(choice.Of(r.body), "type") != "auto"
	return !forced && len(r.list(jsonspan.Member(r.body, 0, "tools"))) > 0
}

// bridge marks where the request before has ended, if the client's next marker is too far from there.
func (r *markable) bridge() {
	if len(r.ends) < 2 || r.ends[len(r.ends)-2] < 0 {
		return
	}
	at := r.ends[len(r.ends)-2]
	for i := at; i < len(r.blocks); i++ {
		if life := r.blocks[i].life; life != "" {
			if i-at+1 > lookBack {
				r.mark(at, life)
			}
			return
		}
	}
}

// places marks a request whose messages have no markers.
func (r *markable) places() {
	free := mostMarkers - r.used
	for k := len(r.ends) - 1; k >= max(0, len(r.ends)-2) && free > 0; k-- {
		if at := r.ends[k]; at >= 0 {
			r.mark(at, "5m")
			free--
		}
	}
	if !r.fixed && free > 0 && len(r.edits) > 0 {
		r.markFixed()
	}
}

// mark adds a marker to a block of the messages.
func (r *markable) mark(i int, life string) {
	b := &r.blocks[i]
	marker := ephemeral
	if life == "1h" {
		marker = []byte(`{"type":"ephemeral","ttl":"1h"}`)
	}
	if b.bare {
		r.wrapped(b.at, marker)
		return
	}
	r.member(b.at, marker)
}

// wrapped writes a text as a list of one marked block.
func (r *markable) wrapped(text jsonspan.Span, marker []byte) {
	r.edits = append(r.edits, markEdit{text, slices.Concat([]byte(`[{"type":"text","text":`), text.Of(r.body), []byte(`,"cache_control":`), marker, []byte(`}]`))})
}

// member adds a marker to an object.
func (r *markable) member(at jsonspan.Span, marker []byte) {
	if c := jsonspan.Member(r.body, at.Start, "cache_control"); !c.IsZero() { // null
		r.edits = append(r.edits, markEdit{c, marker})
		return
	}
	end := jsonspan.Span{Start: at.End - 1, End: at.End - 1}
	r.edits = append(r.edits, markEdit{end, slices.Concat([]byte(`,"cache_control":`), marker)})
}

// markFixed adds a marker behind the system prompt, or behind the tools without one.
func (r *markable) markFixed() {
	if at := jsonspan.Member(r.body, 0, "system"); !at.IsZero() {
		if r.body[at.Start] == '"' && says(at.Of(r.body)) {
			r.wrapped(at, ephemeral)
			return
		}
		if bs := r.list(at); len(bs) > 0 && carries(bs[len(bs)-1].Of(r.body)) {
			r.member(bs[len(bs)-1], ephemeral)
			return
		}
	}
	if ts := r.list(jsonspan.Member(r.body, 0, "tools")); len(ts) > 0 {
		r.member(ts[len(ts)-1], ephemeral)
	}
}

// splice returns the body with the markers.
func (r *markable) splice() []byte {
	slices.SortFunc(r.edits, func(a, b markEdit) int { return cmp.Compare(a.at.Start, b.at.Start) })
	out, from := make([]byte, 0, len(r.body)+64*len(r.edits)), 0
	for _, e := range r.edits {
		out = append(append(out, r.body[from:e.at.Start]...), e.text...)
		from = e.at.End
	}
	return append(out, r.body[from:]...)
}
