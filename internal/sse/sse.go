// Package sse reads and writes server-sent events, the framing of every streamed answer of a model
// API.
//
// A [Reader] is a tee: the bytes of a stream are written to it as they pass by, in pieces of any
// size, and it calls back once per complete event. It never changes, delays or keeps the stream's
// own bytes, so what a proxy forwards does not depend on it. The grammar is that of the HTML
// standard, section 9.2 (https://html.spec.whatwg.org/multipage/server-sent-events.html).
package sse

import "bytes"

// defaultMax is the largest event that a Reader with Max zero keeps, in bytes of its data.
const defaultMax = 64 << 20

// A Reader splits a stream into events. Set Handle before the first Write; the other fields are
// optional. It is not safe for concurrent use.
type Reader struct {
	// Handle is called once per complete event, in order. The name is "message" where the stream
	// gives none. Lines of data are joined by one line feed. Both slices are only valid during the
	// call.
	Handle func(name, data []byte)

	// Max limits the data of one event, in bytes; zero means 64 MB. A larger event is skipped
	// and counted, and the next one is read as usual.
	Max int

	// Skipped is the number of events that were larger than Max.
	Skipped int

	line  []byte // a line whose end has not arrived
	name  []byte
	data  []byte
	lines int  // data lines of the event so far
	big   bool // the event exceeds Max
	begun bool // the first bytes, where a byte order mark may stand, are behind
	cr    bool // the last byte was a carriage return: a line feed that follows belongs to it
}

var (
	bom     = []byte("\xef\xbb\xbf")
	message = []byte("message")
)

// Write takes the next piece of the stream. It returns len(p) and never fails, so that a Reader can
// stand behind io.TeeReader or io.MultiWriter. It does not keep p.
func (r *Reader) Write(p []byte) (int, error) {
	n := len(p)
	if r.cr && n > 0 {
		r.cr = false
		if p[0] == '\n' {
			p = p[1:]
		}
	}
	for len(p) > 0 {
		end := lineEnd(p)
		if end < 0 {
			r.keep(p)
			break
		}
		r.endLine(p[:end])
		p = r.skipEnd(p[end:])
	}
	return n, nil
}

// lineEnd returns the index of the first line feed or carriage return, -1 when there is none.
func lineEnd(p []byte) int {
	lf := bytes.IndexByte(p, '\n')
	if lf < 0 {
		return bytes.IndexByte(p, '\r')
	}
	if cr := bytes.IndexByte(p[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// skipEnd drops the line end that p begins with: CRLF, LF or CR.
func (r *Reader) skipEnd(p []byte) []byte {
	if p[0] == '\n' {
		return p[1:]
	}
	p = p[1:]
	if len(p) == 0 {
		r.cr = true
		return p
	}
	if p[0] == '\n' {
		return p[1:]
	}
	return p
}

// longest is more than a data line is longer than its value.
const longest = len("\xef\xbb\xbfdata: ") + 1

// keep remembers the beginning of a line until its end arrives. Of a line over the limit it keeps
// enough to tell that it is one.
func (r *Reader) keep(p []byte) {
	room := r.max() + longest - len(r.line)
	r.line = append(r.line, p[:min(max(room, 0), len(p))]...)
}

func (r *Reader) max() int {
	if r.Max > 0 {
		return r.Max
	}
	return defaultMax
}

// endLine handles a line of which tail is the last piece.
func (r *Reader) endLine(tail []byte) {
	line := tail
	if len(r.line) > 0 {
		r.keep(tail)
		line = r.line
	}
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, bom)
	}
	if len(line) == 0 {
		r.dispatch()
	} else {
		r.field(line)
	}
	r.line = r.line[:0]
}

// field handles one "name: value" line. Comments, ids, retry times and unknown fields mean nothing here.
func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line[:min(len(line), r.max()+longest)], []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "event":
		r.name = append(r.name[:0], value...)
	case "data":
		r.addData(value)
	}
}

func (r *Reader) addData(value []byte) {
	if r.big || len(r.data)+min(r.lines, 1)+len(value) > r.max() {
		r.big = true
		r.data = r.data[:0]
		return
	}
	if r.lines > 0 {
		r.data = append(r.data, '\n')
	}
	r.data = append(r.data, value...)
	r.lines++
}

// dispatch ends an event. One without any data line is not an event.
func (r *Reader) dispatch() {
	name, data := r.name, r.data
	if len(name) == 0 {
		name = message
	}
	lines, big := r.lines, r.big
	r.name, r.data, r.lines, r.big = r.name[:0], r.data[:0], 0, false
	if big {
		r.Skipped++
		return
	}
	if lines > 0 && r.Handle != nil {
		r.Handle(name, data)
	}
}
