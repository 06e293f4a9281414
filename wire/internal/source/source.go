package source

import (
	"bytes"
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A Source is JSON text whose values are read by the spans where they stand. A span that is zero stands for a
// value that is missing.
type Source struct {
	Src   []byte
	names map[string]string // short strings that were read before
}

// NewSource returns a source over src, which is expected to hold so many different names.
func NewSource(src []byte, names int) Source {
	return Source{Src: src, names: make(map[string]string, names)}
}

// Interned returns the short string at s, one copy for all its repetitions; "" when there is none.
func (in *Source) Interned(s jsonspan.Span) string {
	if s.IsZero() || in.Src[s.Start] != '"' {
		return ""
	}
	raw := s.Of(in.Src)
	if bytes.IndexByte(raw, '\\') >= 0 {
		return jsonspan.Unquote(raw)
	}
	if v, ok := in.names[string(TrimQuotes(raw))]; ok {
		return v
	}
	v := jsonspan.Unquote(raw)
	in.names[v] = v
	return v
}

// Decoded returns the string at s, "" when there is none. Unlike interned it keeps no copy.
func (in *Source) Decoded(s jsonspan.Span) string {
	if s.IsZero() || in.Src[s.Start] != '"' {
		return ""
	}
	return jsonspan.Unquote(s.Of(in.Src))
}

// Is reports whether the value at s is the literal or string written as lit.
func (in *Source) Is(s jsonspan.Span, lit string) bool { return string(s.Of(in.Src)) == lit }

// Begins reports whether the value at s begins with a byte: a list with '[', an object with '{', a string with '"'.
func (in *Source) Begins(s jsonspan.Span, with byte) bool {
	return !s.IsZero() && in.Src[s.Start] == with
}

// Number returns the whole number at s, 0 when there is none.
func (in *Source) Number(s jsonspan.Span) int {
	n, err := strconv.ParseFloat(string(s.Of(in.Src)), 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int(n)
}

// Time returns the time at s. See [TimeOf].
func (in *Source) Time(s jsonspan.Span) time.Time { return TimeOf(s.Of(in.Src)) }

// TimeOf returns the time that a value holds, written as in RFC 3339, also without a zone, which is taken for
// UTC, or in milliseconds since 1970; zero when unknown.
func TimeOf(raw []byte) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, string(TrimQuotes(raw))); err == nil {
			return t
		}
	}
	if ms, err := strconv.ParseInt(string(raw), 10, 64); err == nil && ms > 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

// Find returns where the value of an object's member stands, the last one of several; zero when the
// value at s is no object or has no such member.
func (in *Source) Find(s jsonspan.Span, name string) jsonspan.Span {
	if s.IsZero() {
		return s
	}
	return jsonspan.Member(in.Src, s.Start, name)
}

// Members returns the members of the object at s with the given names, in the order of the names. See
// [Members].
func (in *Source) Members(s jsonspan.Span, names ...string) []jsonspan.Span {
	if s.IsZero() {
		return make([]jsonspan.Span, len(names))
	}
	return Members(in.Src, s, names...)
}

// List returns the elements of the array at s, none when it is no array.
func (in *Source) List(s jsonspan.Span) []jsonspan.Span {
	if !in.Begins(s, '[') {
		return nil
	}
	return Elements(in.Src, s)
}
