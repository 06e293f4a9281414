package session

import (
	"slices"

	"github.com/decantdev/decant/wire/internal/source"
)

// followed reports whether the client finds all live messages when it resumes: it follows parents from the newest message,
// and of lines with one id it takes the last. Where it would lose some, a note says so; here they are read.
func (p *claudeParser) followed() bool {
	found := p.reached(p.groups[len(p.groups)-1].lines)
	live := len(p.groups) - 1
	for live > 0 && !p.groups[live].compaction {
		live--
	}
	var lost source.Tally
	for i := live; i < len(p.groups) && len(found) > 0; i++ {
		if g := &p.groups[i]; !p.finds(g, found) {
			lost.Add(g.lines[0].record)
		}
	}
	p.NoteAll(lost, "messages from here on are lost to the client, which follows the parents of lines back from the newest")
	return lost == source.Tally{}
}

// finds reports whether the client finds a message: on its way back or, if it is the result of a call, beside that. Then
// it finds all lines of the message.
func (p *claudeParser) finds(g *claudeGroup, found map[string]bool) bool {
	ok := slices.ContainsFunc(g.lines, func(l claudeLine) bool {
		result := p.Is(l.kind, `"user"`) && !p.typed(&l)
		return l.link.uuid.IsZero() || found[string(l.link.uuid.Of(p.Src))] || result && found[string(l.link.parent.Of(p.Src))]
	})
	for i := range g.lines {
		if ok {
			found[string(g.lines[i].link.uuid.Of(p.Src))] = true
		}
	}
	return ok
}

// reached returns the ids of the lines that the client finds on its way back from the newest of some lines, nil when that
// has no id. Of lines with one id it takes the last.
func (p *claudeParser) reached(lines []claudeLine) (out map[string]bool) {
	if len(lines) == 0 {
		return nil
	}
	newest := map[string]int{} // id → record
	for rec, l := range p.links {
		if !l.uuid.IsZero() {
			newest[string(l.uuid.Of(p.Src))] = rec
		}
	}
	id := string(lines[len(lines)-1].link.uuid.Of(p.Src))
	for rec, ok := newest[id]; ok && !out[id]; rec, ok = newest[id] {
		if out == nil {
			out = map[string]bool{}
		}
		out[id] = true
		id = string(p.links[rec].parent.Of(p.Src))
	}
	return out
}
