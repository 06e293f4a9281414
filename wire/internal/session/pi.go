package session

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParsePi reads a session file of pi, or of an agent built on it.
//
// The file begins with a session line. In its first version the other lines, its entries, follow
// each other; since the second they have an id and a parentId and form a tree: the conversation is the
// path from the newest entry to the root, and what the user left behind on other branches is left out.
//
// A compaction entry stands where it happened and says from which older entry on messages were kept,
// by id or, in the first version, by position. The model reads the summary first and then the kept
// messages, so that is the order of the messages here.
func ParsePi(src []byte) (*source.Document, error) {
	s, err := openSession(src, typed.Pi)
	if err != nil {
		return nil, err
	}
	p := piParser{session: s}
	p.read()
	if !p.header {
		return nil, fmt.Errorf("no line of type session: %w", source.ErrFormat)
	}
	path := p.path()
	for _, e := range p.order(path) {
		p.entry(e)
	}
	return s.close(pi{off: p.off(path), linear: p.linear}), nil
}

type piParser struct {
	*session
	header  bool
	linear  bool // the file is of the first version: entries without ids
	entries []piEntry
}

// A piEntry is one line behind the header.
type piEntry struct {
	record     int
	kind       string
	id, parent string
	at         []jsonspan.Span // its members, by their places in piNames
}

// The members of an entry.
const (
	piType = iota
	piID
	piParent
	piMessage
	piTime
	piSummary
	piKeptID
	piKeptIndex
	piContent
	piModel
)

var piNames = []string{
	"type", "id", "parentId", "message", "timestamp", "summary", "firstKeptEntryId", "firstKeptEntryIndex", "content", "modelId",
}

// read reads the header and lists the entries.
func (p *piParser) read() {
	p.linear = true
	for i := range p.Records {
		m := p.Members(p.Records[i].At, piNames...)
		e := piEntry{record: i, kind: p.Interned(m[piType]), id: p.Decoded(m[piID]), parent: p.Decoded(m[piParent]), at: m}
		if e.kind == "session" {
			if !p.header {
				p.Conv.ID, p.Conv.Model = e.id, p.Interned(m[piModel])
			}
			p.header = true
			continue
		}
		p.linear = p.linear && e.id == ""
		p.entries = append(p.entries, e)
	}
}

// path returns the indices of the entries on the way from the root to the newest one.
func (p *piParser) path() []int {
	if p.linear || len(p.entries) == 0 {
		return p.all()
	}
	byID := make(map[string]int, len(p.entries))
	for i := range p.entries {
		byID[p.entries[i].id] = i
	}
	var path []int
	for i := len(p.entries) - 1; ; {
		path = append(path, i)
		e := &p.entries[i]
		if e.parent == "" || e.parent == p.Conv.ID {
			break
		}
		next, ok := byID[e.parent]
		if !ok || next >= i {
			p.Note(e.record, "parent %q is not in the file: all entries are read in the order of the file", e.parent)
			return p.all()
		}
		i = next
	}
	slices.Reverse(path)
	return path
}

// all returns the indices of all entries.
func (p *piParser) all() []int {
	out := make([]int, len(p.entries))
	for i := range out {
		out[i] = i
	}
	return out
}

// off returns the records that are not on the path, and notes how many messages they hold.
func (p *piParser) off(path []int) map[int]bool {
	off := map[int]bool{}
	for i := range p.entries {
		off[p.entries[i].record] = true
	}
	for _, i := range path {
		delete(off, p.entries[i].record)
	}
	n, first := 0, 0
	for i := range p.entries {
		if e := &p.entries[i]; off[e.record] && e.kind == "message" {
			if n++; n == 1 {
				first = e.record
			}
		}
	}
	if n > 0 {
		p.Note(first, "%d messages on branches that the user left are not part of this conversation", n)
	}
	return off
}

// order moves the compactions of a path to where their kept messages begin. An older compaction
// never comes behind a newer one.
func (p *piParser) order(path []int) []int {
	before := map[int][]int{} // compactions that go in front of a place of the path
	limit := len(path)
	for at := len(path) - 1; at >= 0; at-- {
		if p.entries[path[at]].kind != "compaction" {
			continue
		}
		limit = min(limit, p.kept(path, at))
		before[limit] = append([]int{path[at]}, before[limit]...)
	}
	var out []int
	for at, i := range path {
		out = append(out, before[at]...)
		if p.entries[i].kind != "compaction" {
			out = append(out, i)
		}
	}
	return append(out, before[len(path)]...)
}

// kept returns the place in path from which on the compaction there kept messages; its own place when
// it kept none.
func (p *piParser) kept(path []int, at int) int {
	e := &p.entries[path[at]]
	if index := e.at[piKeptIndex]; p.linear && !index.IsZero() {
		rec := p.Number(index) // counts lines, the header's included
		for k := range path[:at] {
			if p.entries[path[k]].record >= rec {
				return k
			}
		}
		return at
	}
	id := p.Decoded(e.at[piKeptID])
	for k := range path[:at] {
		if id != "" && p.entries[path[k]].id == id {
			return k
		}
	}
	return at
}

// entry adds the message that an entry holds, if any.
func (p *piParser) entry(i int) {
	e := &p.entries[i]
	switch e.kind {
	case "model_change":
		p.Conv.Model = p.Interned(e.at[piModel])
	case "compaction", "branch_summary":
		p.summary(e)
	case "custom_message":
		p.begin(e, decant.RoleUser, e.at[piContent])
		p.content(e, e.at[piContent], decant.AuthorClient)
	case "message":
		p.message(e)
	}
}

// begin starts a message that entry e holds.
func (p *piParser) begin(e *piEntry, role decant.Role, content jsonspan.Span) *decant.Message {
	m := p.Start(role)
	m.Time = p.Time(e.at[piTime])
	p.hold(e.record, p.Records[e.record].At, content)
	return m
}

// summary adds the text that stands for messages that the model no longer sees, or never saw on this
// branch.
func (p *piParser) summary(e *piEntry) {
	text := e.at[piSummary]
	if p.Decoded(text) == "" {
		return
	}
	p.begin(e, decant.RoleUser, jsonspan.Span{}).Compaction = e.kind == "compaction"
	p.Add(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(text)},
		source.BlockSpan{Span: text, Text: text, Kind: source.MemberValue, Item: len(p.items) - 1})
}
