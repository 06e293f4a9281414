package source

import (
	"bytes"
	"regexp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
)

// Claude Code puts a line about itself before its system prompt:
//
//	x-anthropic-billing-header: cc_version=2.1.330.98d; cc_entrypoint=cli; cch=3f0c1;
//
// Sent to the provider itself, some of its values differ on every request: cch is a hash of the request,
// newer versions also name the request before, the prompt and the turn. A part of the system prompt's
// identity it must not be: each request would be one with another system prompt, whose cache is cold.
// It is told by its form, so that the next line of its sort is met, too. The bytes that are sent keep it.

// billing is a line in the form of an HTTP header whose value is a list of "key=value".
var billing = regexp.MustCompile(`^x-anthropic-[a-z0-9-]+:(?: *[\w.-]+=[^\s;"\\]*(?:; *|$))+$`)

// mostBilling is the longest line that is taken for one, in bytes.
const mostBilling = 1024

// entrypoint names in a billing line by what the client was started.
var entrypoint = regexp.MustCompile(`\bcc_entrypoint=([^\s;"\\]+)`)

// scripted reports whether the billing line of a system prompt says that a program, not a person, started the client.
func scripted(system []decant.Block) bool {
	if len(system) == 0 {
		return false
	}
	l, ok := system[0].Content.(*Lazy)
	if !ok || !bytes.HasPrefix(l.raw, []byte(`"x-anthropic-`)) {
		return false
	}
	m := entrypoint.FindSubmatch(l.raw[:min(len(l.raw), mostBilling)])
	return m != nil && typed.Scripted(string(m[1]), "")
}

// withoutBilling returns the contents of a system prompt without the billing lines that it begins with,
// whether they are blocks of their own or stand in front of other text.
func withoutBilling(system []decant.Block) []decant.Content {
	out := make([]decant.Content, 0, len(system))
	for i := range system {
		c := system[i].Content
		if len(out) == 0 {
			if c = billed(c); c == nil && system[i].Content != nil {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// billed returns what follows the billing line that a text begins with: nil when that is nothing, the
// text itself when it does not begin with one. Nothing is decoded: such a line needs no escapes.
func billed(c decant.Content) decant.Content {
	l, ok := c.(*Lazy)
	if !ok || !bytes.HasPrefix(l.raw, []byte(`"x-anthropic-`)) {
		return c
	}
	end := 1 + bytes.IndexAny(l.raw[1:], `\"`)
	if line := l.raw[1:end]; len(line) > mostBilling || !billing.Match(line) {
		return c
	}
	rest := l.raw[end:]
	for _, newline := range []string{`\r`, `\n`} {
		rest = bytes.TrimPrefix(rest, []byte(newline))
	}
	switch {
	case string(rest) == `"`:
		return nil
	case len(rest) == len(l.raw)-end: // something else than a line break follows
		return c
	}
	without := NewLazy(append([]byte{'"'}, rest...), l.form)
	return &without
}
