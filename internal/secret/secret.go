// Package secret finds credentials in text and masks them.
//
// What a tool prints may hold the keys of a provider, the password in a database's address, or a token
// that somebody pasted. Such text may stay in the transcript, which is the client's own, but it must not
// go into summaries, stubs, reports and logs. Credentials are found by a table of [rules] with a literal
// each, looked for where a run of fitting bytes is long enough, so that one pass over a text finds them all, and by names that tell
// ("api_key", "password") in front of a value that looks random.
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
	found := byLiteral(nil, text)
	found = addresses(found, text)
	found = named(found, text)
	if len(found) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b Match) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	out := found[:1]
	for _, m := range found[1:] {
		if m.Start >= out[len(out)-1].End {
			out = append(out, m)
		}
	}
	return out
}
