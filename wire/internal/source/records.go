package source

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A Record is one JSON object of a session file, which holds one per line. What clients leave behind
// when they are killed or run twice is survived: blank lines, a byte order mark, blocks of NUL bytes, several
// objects on one line, and records that were never finished, wherever they stand.
type Record struct {
	line int           // number of the line, from 1
	At   jsonspan.Span // the object
	end  int           // where the record's bytes end, line break included
}

// blank is what may stand around records. A file system leaves NUL bytes where a crash came before the text.
const blank = " \t\r\n\x00"

// Blank returns how many bytes at the start of a file say nothing: a byte order mark, spaces, NUL bytes.
func Blank(src []byte) int {
	return len(src) - len(bytes.TrimLeft(bytes.TrimPrefix(src, ByteOrderMark), blank))
}

// A recordReader reads records.
type recordReader struct {
	src   []byte
	heads map[string]bool // how records of this file begin: up to the end of the first member's name
}

// readRecords returns the objects of src in order, and a warning for every line that is not exactly
// one object.
func readRecords(src []byte) ([]Record, []Warning) {
	var out []Record
	var warnings []Warning
	r := recordReader{src, map[string]bool{}}
	pos := 0
	if bytes.HasPrefix(src, ByteOrderMark) {
		pos = len(ByteOrderMark)
	}
	for line := 1; pos < len(src); line++ {
		end := len(src)
		if i := bytes.IndexByte(src[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		found, problem := r.line(pos, end)
		if problem != "" {
			warnings = append(warnings, Warning{Offset: pos, Line: line, Text: problem})
		}
		for i := range found {
			found[i].line = line
			r.heads[head(found[i].At.Of(src))] = true
		}
		out = append(out, found...)
		pos = end
	}
	return out, warnings
}

// head returns how an object begins: up to the end of its first member's name, "" where it has none.
func head(object []byte) string {
	name, _, ok := bytes.Cut(object, []byte(":"))
	if !ok || !bytes.HasPrefix(name, []byte(`{"`)) {
		return ""
	}
	return string(name)
}

// line returns the objects of one line and what is wrong with the line, if anything.
func (r *recordReader) line(start, end int) (out []Record, problem string) {
	text := bytes.Trim(r.src[start:end], blank)
	if len(text) == 0 {
		if n := bytes.Count(r.src[start:end], []byte{0}); n > 0 {
			return nil, fmt.Sprintf("%d NUL bytes, as a crash leaves them: they say nothing", n)
		}
		return nil, ""
	}
	from := start + bytes.IndexByte(r.src[start:end], text[0])
	if text[0] == '{' && jsonspan.Validate(text) == nil { // as it should be
		return []Record{{At: jsonspan.Span{Start: from, End: from + len(text)}, end: end}}, ""
	}
	return r.split(from, from+len(text), end)
}

// split returns the objects of a text that is not exactly one. Behind a record that was cut off, it goes on where another
// one begins.
func (r *recordReader) split(pos, until, end int) (out []Record, problem string) {
	var bad error
	tries, torn := mostTries, false
	for pos < until {
		v, err := r.object(pos, until)
		if err == nil {
			out = append(out, Record{At: v, end: v.End})
			pos = v.End + len(r.src[v.End:until]) - len(bytes.TrimLeft(r.src[v.End:until], blank))
			continue
		}
		if bad == nil {
			bad = err
		}
		next := r.next(pos, until, &tries)
		if next < 0 {
			break
		}
		torn, pos = true, next
	}
	if len(out) > 0 {
		out[len(out)-1].end = end
	}
	switch {
	case torn:
		return out, "a record was cut off while it was written, and the next one follows on its line: the first is left out"
	case bad != nil:
		return out, r.bad(bad, end)
	}
	return out, fmt.Sprintf("%d objects on one line: all are read", len(out))
}

var errNoObject = errors.New("not an object")

// object returns the object at an offset.
func (r *recordReader) object(pos, until int) (jsonspan.Span, error) {
	if r.src[pos] != '{' {
		return jsonspan.Span{}, errNoObject
	}
	sc := jsonspan.Scan(r.src[:until], pos)
	v := sc.Skip()
	return v, jsonspan.Validate(v.Of(r.src))
}

// mostTries is how many places of a line are tried, so that a hostile line costs no more than reading it so often.
const mostTries = 32

// next returns where a whole record begins behind one that was cut off, -1 for nowhere. It begins as other records of the
// file do, or as the one that was cut off, and ends where another begins or the text ends.
func (r *recordReader) next(pos, until int, tries *int) int {
	own := head(r.src[pos:until])
	for at := pos + 1; *tries > 0; at++ {
		i := bytes.Index(r.src[at:until], []byte(`{"`))
		if i < 0 {
			break
		}
		at += i
		if h := head(r.src[at:min(until, at+mostHead)]); h == "" || h != own && !r.heads[h] {
			continue
		}
		*tries--
		v, err := r.object(at, until)
		if err != nil {
			continue
		}
		if rest := bytes.TrimLeft(r.src[v.End:until], blank); len(rest) == 0 || rest[0] == '{' {
			return at
		}
	}
	return -1
}

// mostHead is how many bytes the name of a record's first member has at most.
const mostHead = 256

// bad says what is wrong with a line that is not an object.
func (r *recordReader) bad(err error, end int) string {
	if end == len(r.src) && r.src[end-1] != '\n' {
		return "the last line was cut off while it was written: it is left out"
	}
	if errors.Is(err, errNoObject) {
		return "not a JSON object: the rest of the line is left out"
	}
	return fmt.Sprintf("not JSON, left out: %v", err)
}
