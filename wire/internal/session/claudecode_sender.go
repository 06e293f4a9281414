package session

import (
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
)

// A claudeSender is what a line says about who wrote it, besides its text.
type claudeSender struct {
	entrypoint, kind jsonspan.Span // of the session
	origin           jsonspan.Span // an object with a kind
	untyped, handed  jsonspan.Span // a link or another session filled it in
	forked           jsonspan.Span // of a copy: which message of which session
}

// member returns where the value of a line's member goes, nil when nobody needs it.
func (s *claudeSender) member(name []byte) *jsonspan.Span {
	switch string(name) {
	case "entrypoint":
		return &s.entrypoint
	case "sessionKind":
		return &s.kind
	case "origin":
		return &s.origin
	case "textNotTyped":
		return &s.untyped
	case "handedOff":
		return &s.handed
	case "forkedFrom":
		return &s.forked
	}
	return nil
}

// person reports whether an origin, which older clients do not write, is the user.
func (p *claudeParser) person(origin jsonspan.Span) bool {
	return origin.IsZero() || typed.Person(p.Interned(p.Find(origin, "kind")))
}

// scripted reports whether a program typed what stands on a line.
func (p *claudeParser) scripted(l *claudeLine) bool {
	s := &l.sender
	return p.Is(l.side, "true") || p.Is(s.untyped, "true") || p.Is(s.handed, "true") ||
		typed.Scripted(p.Interned(s.entrypoint), p.Interned(s.kind))
}

// identity returns the id of a message of the user, which a copy in a fork shares.
func (p *claudeParser) identity(l *claudeLine) string {
	if id := p.Decoded(p.Find(l.sender.forked, "messageUuid")); id != "" {
		return id
	}
	return p.Decoded(l.link.uuid)
}
