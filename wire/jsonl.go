package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
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
	text := bytes.Trim(at.Of(src), " \t\r\n")
	if len(text) == 0 {
		return nil, ""
	}
	start := at.Start + bytes.IndexByte(at.Of(src), text[0])
	if text[0] == '{' && jsonspan.Validate(text) == nil { // as it should be
		return []record{{line: line, at: jsonspan.Span{Start: start, End: start + len(text)}, end: at.End}}, ""
	}
	return splitLine(src, jsonspan.Span{Start: start, End: at.End}, line)
}

// splitLine returns the objects at the start of a line that is not exactly one.
func splitLine(src []byte, at jsonspan.Span, line int) (out []record, problem string) {
	for sc := jsonspan.Scan(src[:at.End], at.Start); sc.Kind() != 0; sc = jsonspan.Scan(src[:at.End], sc.Pos()) {
		v := sc.Skip()
		if err := jsonspan.Validate(v.Of(src)); err != nil || src[v.Start] != '{' {
			return endLine(out, at), badLine(src, at, err)
		}
		out = append(out, record{line: line, at: v, end: v.End})
	}
	return endLine(out, at), fmt.Sprintf("%d objects on one line: all are read", len(out))
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

// A session is what the three session formats share while they are read: a [builder] over the records
// of a file. Its items are the objects of the source that hold messages or parts of one: records, or
// elements of a list in a record.
type session struct {
	*builder
	records  []record
	items    []item
	recordOf []int // for each item the index of its record
}

// openSession returns a session over src. It is an error when src holds no record at all.
func openSession(src []byte, agent string) (*session, error) {
	rs, warnings := readRecords(src)
	if len(rs) == 0 {
		return nil, fmt.Errorf("no line is a JSON object: %w", ErrFormat)
	}
	s := &session{builder: newBuilder(src), records: rs}
	s.conv.Agent = agent
	s.warnings = warnings
	return s, nil
}

// close ends the reading.
func (s *session) close(f Format, c client) *Document {
	l := &log{client: c, records: s.records, recordOf: s.recordOf, body: body{items: s.items}}
	d := s.document(f, l)
	l.body.sites = s.sites
	slices.SortStableFunc(d.Warnings, func(a, b Warning) int { return cmp.Compare(a.Offset, b.Offset) })
	return d
}

// hold notes that the object at v, in record rec, holds a part of the message under construction, with
// the value of its content member, and returns the index of the item.
func (s *session) hold(rec int, v, content jsonspan.Span) int {
	s.items = append(s.items, item{span: v, owner: len(s.conv.Messages), content: content})
	s.recordOf = append(s.recordOf, rec)
	return len(s.items) - 1
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

// time returns the time at v. See [timeOf].
func (s *session) time(v jsonspan.Span) time.Time { return timeOf(s.src, v) }

// timeOf returns the time at v, written as in RFC 3339, also without a zone, which is taken for UTC, or in
// milliseconds since 1970; zero when unknown.
func timeOf(src []byte, v jsonspan.Span) time.Time {
	raw := v.Of(src)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, string(trimQuotes(raw))); err == nil {
			return t
		}
	}
	if ms, err := strconv.ParseInt(string(raw), 10, 64); err == nil && ms > 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

// members returns the members of the object at v with the given names, in the order of the names. A
// missing one is zero; of one that stands twice the last counts, as it does for the clients.
func (s *session) members(v jsonspan.Span, names ...string) []jsonspan.Span {
	return membersOf(s.src, v, names...)
}

func membersOf(src []byte, v jsonspan.Span, names ...string) []jsonspan.Span {
	out := make([]jsonspan.Span, len(names))
	if v.IsZero() || src[v.Start] != '{' {
		return out
	}
	sc := jsonspan.Scan(src, v.Start)
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
