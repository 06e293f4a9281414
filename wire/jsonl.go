package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A record is one JSON object of a session file, which holds one per line. What clients leave behind
// when they are killed or run twice is survived: blank lines, a byte order mark, two objects on one
// line, a last line that was never finished.
type record struct {
	line int           // number of the line, from 1
	at   jsonspan.Span // the object
	end  int           // where the record's bytes end, line break included
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// readRecords returns the objects of src in order, and a warning for every line that is not exactly
// one object.
func readRecords(src []byte) ([]record, []Warning) {
	var out []record
	var warnings []Warning
	pos := 0
	if bytes.HasPrefix(src, byteOrderMark) {
		pos = len(byteOrderMark)
	}
	for line := 1; pos < len(src); line++ {
		end := len(src)
		if i := bytes.IndexByte(src[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		found, problem := lineRecords(src, jsonspan.Span{Start: pos, End: end}, line)
		if problem != "" {
			warnings = append(warnings, Warning{Offset: pos, Line: line, Text: problem})
		}
		out = append(out, found...)
		pos = end
	}
	return out, warnings
}

// lineRecords returns the objects of one line and what is wrong with the line, if anything.
func lineRecords(src []byte, at jsonspan.Span, line int) (out []record, problem string) {
	for pos := at.Start; ; {
		rest := bytes.TrimLeft(src[pos:at.End], " \t\r\n")
		if len(rest) == 0 {
			break
		}
		sc := jsonspan.Scan(src[:at.End], at.End-len(rest))
		v := sc.Skip()
		if err := jsonspan.Validate(v.Of(src)); err != nil || src[v.Start] != '{' {
			return endLine(out, at), badLine(src, at, err)
		}
		out = append(out, record{line: line, at: v, end: v.End})
		pos = v.End
	}
	if len(out) > 1 {
		problem = fmt.Sprintf("%d objects on one line: all are read", len(out))
	}
	return endLine(out, at), problem
}

// endLine gives the rest of the line to its last record.
func endLine(rs []record, at jsonspan.Span) []record {
	if len(rs) > 0 {
		rs[len(rs)-1].end = at.End
	}
	return rs
}

// badLine says what is wrong with a line that is not an object.
func badLine(src []byte, at jsonspan.Span, err error) string {
	if at.End == len(src) && src[len(src)-1] != '\n' {
		return "the last line was cut off while it was written: it is left out"
	}
	if err == nil {
		return "not a JSON object: the rest of the line is left out"
	}
	return fmt.Sprintf("not JSON, left out: %v", err)
}

// A share is an object of the source that holds a message or a part of one: a record, or an element
// of a list in it. The item of a block's [site] is the index of its share.
type share struct {
	record  int           // index of the record
	at      jsonspan.Span // the object that is the message or the item
	message int           // index of the message
}

// A session is what the three session formats share: a [builder] over the records of a file. It is
// the layout of the document that it builds.
type session struct {
	*builder
	client  client
	records []record
	shares  []share // in the order of their messages
}

// openSession returns a session over src. It is an error when src holds no record at all.
func openSession(src []byte, agent string, c client) (*session, error) {
	rs, warnings := readRecords(src)
	if len(rs) == 0 {
		return nil, fmt.Errorf("no line is a JSON object: %w", ErrFormat)
	}
	s := &session{builder: newBuilder(src), client: c, records: rs}
	s.conv.Agent = agent
	s.warnings = warnings
	return s, nil
}

// hold notes that the object at v, in record rec, holds a part of the message under construction, and
// returns the index of the share.
func (s *session) hold(rec int, v jsonspan.Span) int {
	s.shares = append(s.shares, share{rec, v, len(s.conv.Messages) - 1})
	return len(s.shares) - 1
}

// note adds a warning about record rec.
func (s *session) note(rec int, format string, args ...any) {
	r := &s.records[rec]
	s.warnings = append(s.warnings, Warning{Offset: r.at.Start, Line: r.line, Text: fmt.Sprintf(format, args...)})
}

// string returns the decoded string at v, "" when there is none. Unlike [builder.str] it keeps no copy.
func (s *session) string(v jsonspan.Span) string {
	if v.IsZero() || s.src[v.Start] != '"' {
		return ""
	}
	return jsonspan.Unquote(v.Of(s.src))
}

// number returns the whole number at v, 0 when there is none.
func (s *session) number(v jsonspan.Span) int {
	n, err := strconv.ParseFloat(string(v.Of(s.src)), 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int(n)
}

// time returns the time at v, written as in RFC 3339 or in milliseconds since 1970; zero when unknown.
func (s *session) time(v jsonspan.Span) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, s.string(v)); err == nil {
		return t
	}
	if ms := s.number(v); ms > 0 {
		return time.UnixMilli(int64(ms)).UTC()
	}
	return time.Time{}
}

// members returns the members of the object at v with the given names, in the order of the names. A
// missing one is zero; of one that stands twice the last counts, as it does for the clients.
func (s *session) members(v jsonspan.Span, names ...string) []jsonspan.Span {
	out := make([]jsonspan.Span, len(names))
	if v.IsZero() || s.src[v.Start] != '{' {
		return out
	}
	sc := jsonspan.Scan(s.src, v.Start)
	for sc.Open(); sc.Next(); {
		name := sc.Name()
		at := sc.Skip()
		for i := range names {
			if string(name) == names[i] {
				out[i] = at
			}
		}
	}
	return out
}

// list returns the elements of the array at v, none when it is no array.
func (s *session) list(v jsonspan.Span) []jsonspan.Span {
	if v.IsZero() || s.src[v.Start] != '[' {
		return nil
	}
	var out []jsonspan.Span
	sc := jsonspan.Scan(s.src, v.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, sc.Skip())
	}
	return out
}
