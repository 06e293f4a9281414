package source

import (
	"bytes"
	"fmt"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A Record is one JSON object of a session file, which holds one per line. What clients leave behind
// when they are killed or run twice is survived: blank lines, a byte order mark, two objects on one
// line, a last line that was never finished.
type Record struct {
	line int           // number of the line, from 1
	At   jsonspan.Span // the object
	end  int           // where the record's bytes end, line break included
}

// readRecords returns the objects of src in order, and a warning for every line that is not exactly
// one object.
func readRecords(src []byte) ([]Record, []Warning) {
	var out []Record
	var warnings []Warning
	pos := 0
	if bytes.HasPrefix(src, ByteOrderMark) {
		pos = len(ByteOrderMark)
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
func lineRecords(src []byte, at jsonspan.Span, line int) (out []Record, problem string) {
	text := bytes.Trim(at.Of(src), " \t\r\n")
	if len(text) == 0 {
		return nil, ""
	}
	start := at.Start + bytes.IndexByte(at.Of(src), text[0])
	if text[0] == '{' && jsonspan.Validate(text) == nil { // as it should be
		return []Record{{line: line, At: jsonspan.Span{Start: start, End: start + len(text)}, end: at.End}}, ""
	}
	return splitLine(src, jsonspan.Span{Start: start, End: at.End}, line)
}

// splitLine returns the objects at the start of a line that is not exactly one.
func splitLine(src []byte, at jsonspan.Span, line int) (out []Record, problem string) {
	for sc := jsonspan.Scan(src[:at.End], at.Start); sc.Kind() != 0; sc = jsonspan.Scan(src[:at.End], sc.Pos()) {
		v := sc.Skip()
		if err := jsonspan.Validate(v.Of(src)); err != nil || src[v.Start] != '{' {
			if whole, ok := glued(src, jsonspan.Span{Start: v.Start, End: at.End}, line); ok {
				return append(out, whole), "a record was cut off while it was written, and the next one follows on its line: the first is left out"
			}
			return endLine(out, at), badLine(src, at, err)
		}
		out = append(out, Record{line: line, At: v, end: v.End})
	}
	return endLine(out, at), fmt.Sprintf("%d objects on one line: all are read", len(out))
}

// mostGlued is how many places are tried, so that a hostile line costs no more than reading it so often.
const mostGlued = 32

// glued returns the record that ends a line behind one that was cut off. Both begin with the same member, as the records
// of a file do.
func glued(src []byte, at jsonspan.Span, line int) (Record, bool) {
	text := bytes.TrimRight(at.Of(src), " \t\r\n")
	head, _, ok := bytes.Cut(text, []byte(":"))
	if !ok || !bytes.HasPrefix(head, []byte(`{"`)) {
		return Record{}, false
	}
	from := 1
	for range mostGlued {
		i := bytes.Index(text[from:], head)
		if i < 0 {
			break
		}
		if from += i; jsonspan.Validate(text[from:]) == nil {
			return Record{line: line, At: jsonspan.Span{Start: at.Start + from, End: at.Start + len(text)}, end: at.End}, true
		}
		from++
	}
	return Record{}, false
}

// endLine gives the rest of the line to its last record.
func endLine(rs []Record, at jsonspan.Span) []Record {
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
