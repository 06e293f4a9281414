package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// A reading reads the events of one file.
type reading struct {
	name  string
	file  time.Time // the time of what has none
	lines *liner
	un    unwrapper

	streams map[string]*record // what is read of each container or process
	order   []string           // in which streams have begun
	newest  string             // the stream of the line before

	objects bool   // each line must be an object of JSON
	found   bool   // an event was found
	read    bool   // a line was understood
	strange string // the beginning of the first line that was not
	line    int    // its number
}

// mostStreams bounds the containers and processes that are read side by side.
const mostStreams = 256

// A content is what the lines of a file are.
type content int

const (
	logLines    content = iota
	objectLines         // each line is an object of JSON
	anyLines            // the first line says which of them
)

// readAll yields the events of a file, and reports whether more are wanted. at is the time of a log line without one.
func readAll(ctx context.Context, name string, at time.Time, r io.Reader, is content, yield func(Event, error) bool) bool {
	lines := newLiner(decoded(r))
	objects := is == objectLines || is == anyLines && bytes.HasPrefix(bytes.TrimSpace(lines.ahead()), []byte("{"))
	d := &reading{name: name, file: at, lines: lines, objects: objects, un: unwrapper{near: at, events: objects}, streams: map[string]*record{}}
	counted := func(e Event, err error) bool {
		d.found = d.found || err == nil
		return yield(e, err)
	}
	for ctx.Err() == nil {
		line, err := d.lines.next()
		switch {
		case err == io.EOF:
			return d.end(counted)
		case errors.Is(err, errLong) && !objects:
			continue // a line of a stack is never so long, and a log may hold anything
		case errors.Is(err, errLong):
			if !yield(Event{}, &LineError{name, d.lines.line, err}) {
				return false
			}
		case err != nil:
			yield(Event{}, fmt.Errorf("read %s: %w", name, err))
			return false
		case !d.take(string(line), counted):
			return false
		}
	}
	yield(Event{}, ctx.Err())
	return false
}

// take reads one line.
func (d *reading) take(line string, yield func(Event, error) bool) bool {
	w := d.un.unwrap(line, d.lines.ahead())
	bare := w.from == "" && w.at.IsZero()
	if bare && !isObject(w.text) {
		if d.objects {
			return d.object(w.text, w.at, yield)
		}
		w.from = d.newest // a stack behind a line of syslog has no prefix
	}
	rec := d.stream(w.from, yield)
	if rec == nil {
		return false
	}
	d.newest = w.from
	d.read = d.read || !isObject(w.text) && (!bare || rec.knows(w.text))
	if !d.read && d.strange == "" && len(bytes.TrimSpace([]byte(w.text))) > 0 {
		d.strange, d.line = cut(w.text, 60), d.lines.line
	}
	switch {
	case w.partial && rec.parts.Len() < mostLine:
		rec.parts.WriteString(w.text)
		return true
	case rec.parts.Len() > 0:
		rec.parts.WriteString(w.text)
		w.text = rec.parts.String()
		rec.parts.Reset()
	}
	if isObject(w.text) {
		if w.at.IsZero() && !d.objects {
			w.at = rec.at
		}
		return rec.flush(yield) && d.object(w.text, w.at, yield)
	}
	return rec.add(w, yield)
}

// stream returns the record of a container or process. It is nil when no more events are wanted.
func (d *reading) stream(from string, yield func(Event, error) bool) *record {
	if rec := d.streams[from]; rec != nil {
		return rec
	}
	if len(d.order) == mostStreams {
		oldest := d.order[0]
		if !d.streams[oldest].flush(yield) {
			return nil
		}
		delete(d.streams, oldest)
		d.order = slices.Delete(d.order, 0, 1)
	}
	rec := &record{file: d.file, at: d.file}
	d.streams[from], d.order = rec, append(d.order, from)
	return rec
}

// object yields the event of an object of JSON. at is its time where it has none.
func (d *reading) object(line string, at time.Time, yield func(Event, error) bool) bool {
	if len(bytes.TrimSpace([]byte(line))) == 0 {
		return true
	}
	o, err := decode([]byte(line))
	if err == nil && !d.objects && !o.tells() {
		return true // data that was printed
	}
	var e Event
	if err == nil {
		e, err = readObject(o, at)
	}
	switch {
	case err == nil:
		d.read = true
		return yield(e, nil)
	case errors.Is(err, errLevel):
		d.read = true
		return true
	case !d.objects:
		return true
	}
	d.read = true // each such line has an error of its own
	return yield(Event{}, &LineError{d.name, d.lines.line, err})
}

// end yields what is left. A file with text that looks like no log is an error.
func (d *reading) end(yield func(Event, error) bool) bool {
	for _, from := range d.order {
		if !d.streams[from].flush(yield) {
			return false
		}
	}
	if d.found || d.read || d.strange == "" {
		return true
	}
	return yield(Event{}, &LineError{d.name, d.line,
		fmt.Errorf("no line of this file has a time, a level or a stack trace; this is the first: %q", d.strange)})
}

// decoded returns a text in UTF-8 of one that may be in UTF-16, with or without a byte order mark.
func decoded(r io.Reader) io.Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(64)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		in.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		in.Discard(2)
		return &wide{in: in, order: binary.LittleEndian}
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		in.Discard(2)
		return &wide{in: in, order: binary.BigEndian}
	case everyOther(head, 1):
		return &wide{in: in, order: binary.LittleEndian}
	case everyOther(head, 0):
		return &wide{in: in, order: binary.BigEndian}
	}
	return in
}

// everyOther reports whether each second byte is zero, and the others are not: UTF-16 of plain letters.
func everyOther(b []byte, from int) bool {
	for i, c := range b {
		if (i%2 == from) != (c == 0) {
			return false
		}
	}
	return len(b) >= 4
}

// A wide reader turns UTF-16 into UTF-8.
type wide struct {
	in    *bufio.Reader
	order binary.ByteOrder
	out   []byte
	high  rune // the first half of a pair
}

// Read implements io.Reader.
func (w *wide) Read(p []byte) (int, error) {
	for len(w.out) < len(p) && (len(w.out) == 0 || w.in.Buffered() > 1) {
		var two [2]byte
		if _, err := io.ReadFull(w.in, two[:]); err == io.ErrUnexpectedEOF {
			return 0, io.EOF // half a letter at the end
		} else if err != nil {
			return 0, err
		}
		c := rune(w.order.Uint16(two[:]))
		switch {
		case w.high != 0:
			w.out, w.high = utf8.AppendRune(w.out, utf16.DecodeRune(w.high, c)), 0
		case utf16.IsSurrogate(c):
			w.high = c
		default:
			w.out = utf8.AppendRune(w.out, c)
		}
	}
	n := copy(p, w.out)
	w.out = w.out[:copy(w.out, w.out[n:])]
	return n, nil
}
