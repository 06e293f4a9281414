// Package secret finds credentials in text and masks them.
//
// What a tool prints may hold the keys of a provider, the password in a database's address, or a token
// that somebody pasted. Such text may stay in the transcript, which is the client's own, but it must not
// go into summaries, stubs, reports, logs and what a search prints.
//
// Six ways lead to a credential, each with a table of its own: its own form ([rules]), the name in front of
// it ([names]), a phrase in front of it ([phrases]), the flag of a program ([programs]), its place in a URL,
// and the lines around a private key. The work grows
// with the text and not faster, whatever the text is.
package secret

import (
	"slices"
	"strings"
)

// A Match is one credential in a text.
type Match struct {
	Start, End int    // bytes, half open
	Kind       string // what it is: "github-token", "password"
}

// String tells the kind and never the credential.
func (m Match) String() string { return "[redacted " + m.Kind + "]" }

// Mask returns text with every credential replaced by its kind: "[redacted github-token]". A text
// without credentials is returned as it is.
func Mask(text string) string {
	found := Find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, m := range found {
		b.WriteString(text[last:m.Start])
		b.WriteString(m.String())
		last = m.End
	}
	b.WriteString(text[last:])
	return b.String()
}

// Find returns the credentials in text in order. Matches do not overlap.
func Find(text string) []Match {
	s := scanner{text: text}
	s.find()
	return s.sorted()
}

// A scanner looks for credentials in one text.
type scanner struct {
	text  string
	found []Match
	ends  []span // where the bytes of each part of the rules end, see [scanner.run]
	digit span   // the end is the first digit from the start on
	sign  span   // the end is the first @ from the start on
	line  command
	bare  span // the newest value without quotes
	tried int  // how many values ended with it
	told  int  // where the newest list of cookies ends
	work  int  // bytes looked at, counted where a loop could look at one again and again
}

// A span is a stretch of text, half open.
type span struct{ start, end int }

// find looks for all of them.
func (s *scanner) find() {
	s.words()
	s.named()
	s.urls()
	s.privateKeys()
}

// add notes a credential.
func (s *scanner) add(start, end int, kind string) {
	s.found = append(s.found, Match{start, end, kind})
}

// sorted returns what was found in order. Of two that overlap the first one counts, of two that begin
// together the longer one, and it reaches as far as both do.
func (s *scanner) sorted() []Match {
	if len(s.found) < 2 {
		return s.found
	}
	slices.SortStableFunc(s.found, func(a, b Match) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	out := s.found[:1]
	for _, m := range s.found[1:] {
		last := &out[len(out)-1]
		switch {
		case m.Start >= last.End:
			out = append(out, m)
		case m.End > last.End:
			last.End = m.End
		}
	}
	return out
}
