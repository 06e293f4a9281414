package session

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// A claudeLink is the place of a record in the tree of lines.
type claudeLink struct{ uuid, parent jsonspan.Span }

// branches finds the branches that the user left: what hangs, between a line and a later message of
// the user that names it as its parent, on that same line, unless the client goes on from there.
func (p *claudeParser) branches(lines []claudeLine, links []claudeLink) {
	p.left = map[int]bool{}
	message, known := map[int]bool{}, map[string]bool{}
	way := p.way(lines)
	for i := range lines {
		l := &lines[i]
		id := string(l.link.uuid.Of(p.Src))
		if known[id] && id != "" { // it stands in the file twice, and nobody went back
			continue
		}
		known[id] = true
		from := l.record - 1
		if p.Is(l.kind, `"user"`) && !p.Is(l.side, "true") && p.typed(l) {
			from = p.parent(links, l.record)
		}
		if beside, on := p.hanging(links, l.link.parent, from+1, l.record, way); !on {
			for _, rec := range beside {
				p.left[rec] = message[rec]
			}
		}
		message[l.record] = !p.Is(l.kind, queueOperation)
	}
	p.others(lines, message, way)
}

// hanging returns the records in a range that hang on a line, and whether the client goes on from one of them.
func (p *claudeParser) hanging(links []claudeLink, on jsonspan.Span, from, to int, way map[string]bool) (recs []int, live bool) {
	if from == to {
		return nil, false
	}
	under := map[string]bool{string(on.Of(p.Src)): true}
	for rec := from; rec < to; rec++ {
		if id := string(links[rec].uuid.Of(p.Src)); under[string(links[rec].parent.Of(p.Src))] {
			under[id] = true
			recs, live = append(recs, rec), live || way[id]
		}
	}
	return recs, live
}

// way returns the ids of the lines that the client finds on its way back from the newest message. A line that stands in
// the file once more is no newer message.
func (p *claudeParser) way(lines []claudeLine) map[string]bool {
	newest, known := -1, map[string]bool{}
	for i := range lines {
		l := &lines[i]
		id := l.link.uuid.Of(p.Src)
		if !known[string(id)] && !p.Is(l.kind, queueOperation) && !p.Is(l.side, "true") {
			newest = i
		}
		known[string(id)] = true
	}
	return p.reached(lines[:newest+1])
}

// others finds the branches of two who wrote one file in turn. Nobody went back: what the user said beside the client's
// way, behind a line of it, is on a branch that was left.
func (p *claudeParser) others(lines []claudeLine, message map[int]bool, way map[string]bool) {
	root := map[string]string{} // id → the first line of its branch
	for _, l := range p.links {
		id, parent := string(l.uuid.Of(p.Src)), l.parent.Of(p.Src)
		if from := root[string(parent)]; way[string(parent)] && !way[id] {
			root[id] = id
		} else if from != "" {
			root[id] = from
		}
	}
	left := map[string]bool{}
	for i := range lines {
		l := &lines[i]
		if from := root[string(l.link.uuid.Of(p.Src))]; from != "" && p.Is(l.kind, `"user"`) && !p.Is(l.side, "true") && p.typed(l) {
			left[from] = true
		}
	}
	for rec, l := range p.links {
		if left[root[string(l.uuid.Of(p.Src))]] {
			p.left[rec] = message[rec]
		}
	}
}

// typed reports whether a line holds something that the user said and hangs on another line.
func (p *claudeParser) typed(l *claudeLine) bool {
	if l.link.parent.IsZero() {
		return false
	}
	_, ok := p.saidOn(l)
	return ok
}

// saidOn returns what the user said on a line that holds it and nothing else: what is said together with the result of
// a call hangs on that call, beside the other calls of the same answer.
func (p *claudeParser) saidOn(l *claudeLine) (text string, ok bool) {
	if p.client(l) || l.content.IsZero() {
		return "", false
	}
	if p.Src[l.content.Start] == '"' {
		text = p.Decoded(l.content)
		return text, source.AuthorOf(typed.ClaudeCode, text) == decant.AuthorUser
	}
	for _, b := range p.List(l.content) {
		m := p.Members(b, "type", "text")
		if p.Is(m[0], `"tool_result"`) {
			return "", false
		}
		if t := p.Decoded(m[1]); source.AuthorOf(typed.ClaudeCode, t) == decant.AuthorUser {
			text, ok = text+t+"\n", true
		}
	}
	return text, ok
}

// parent returns the record before rec that is its parent, the one right before it when there is none.
func (p *claudeParser) parent(links []claudeLink, rec int) int {
	want := string(links[rec].parent.Of(p.Src))
	for i := rec - 1; i >= 0 && want != "null"; i-- {
		if string(links[i].uuid.Of(p.Src)) == want {
			return i
		}
	}
	return rec - 1
}
