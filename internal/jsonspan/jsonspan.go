// Package jsonspan finds the values of a JSON text without copying them.
//
// A text is checked once, by [Validate], and then read by a [Scanner], which trusts it: it walks
// from front to back, descends where the caller wants to look and skips the rest at the speed of a
// search for quotes, and it hands out [Span] values, byte ranges of the text. Nothing is decoded until
// somebody asks for it ([Unquote]), and nothing is allocated. A scanner that checks what it reads
// ([Checked]) saves the first of these two passes over a text that is valid. That is what makes it possible to change
// one string in a request of a megabyte and to leave every other byte as it was.
//
// On a text that is not valid the results are meaningless, but nothing panics and nothing hangs.
package jsonspan

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// A Span is the half-open byte range [Start, End) of the text it was found in. The zero Span means
// that there is no such value; no value of an object or array starts at 0.
type Span struct{ Start, End int }

// Len returns the length of the span in bytes.
func (s Span) Len() int { return s.End - s.Start }

// IsZero reports whether the span is missing.
func (s Span) IsZero() bool { return s == Span{} }

// Of returns the bytes of the span in src, without copying.
func (s Span) Of(src []byte) []byte { return src[s.Start:s.End:s.End] }

// Validate returns an error unless src is exactly one JSON value (RFC 8259). Like the servers that
// such texts are meant for it lets duplicate names and invalid UTF-8 in strings pass.
// The error names the offset and, as far as it is known, the place (RFC 6901 pointer).
func Validate(src []byte) error {
	if end := checkValue(src, skipSpace(src, 0), 0); end >= 0 && skipSpace(src, end) == len(src) {
		return nil
	}
	return validate(src)
}

// validate is Validate by the JSON syntax package alone, which knows what is wrong.
func validate(src []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadValue(); err != nil {
		return syntaxError(err, len(src))
	}
	if end := int(d.InputOffset()); skipSpace(src, end) < len(src) {
		return fmt.Errorf("offset %d: more bytes after the JSON value", skipSpace(src, end))
	}
	return nil
}

// syntaxError says in our own words where a text of n bytes stops being JSON.
func syntaxError(err error, n int) error {
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		return fmt.Errorf("offset %d: the JSON value ends too early: %w", n, err)
	}
	if syn.JSONPointer == "" {
		return fmt.Errorf("offset %d: %w", syn.ByteOffset, syn.Err)
	}
	return fmt.Errorf("offset %d (in %s): %w", syn.ByteOffset, syn.JSONPointer, syn.Err)
}
