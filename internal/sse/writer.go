package sse

import (
	"bytes"
	"io"
	"net/http"
)

// ContentType is the media type of a stream of events.
const ContentType = "text/event-stream; charset=utf-8"

// Append appends one event to dst. Data is split at its line ends into several data lines, of which
// a reader makes one text again with single line feeds. An empty name leaves the event line out.
func Append(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for {
		end := lineEnd(data)
		dst = append(dst, "data: "...)
		if end < 0 {
			dst = append(dst, data...)
			return append(dst, '\n', '\n')
		}
		dst = append(dst, data[:end]...)
		dst = append(dst, '\n')
		if bytes.HasPrefix(data[end:], []byte("\r\n")) {
			end++
		}
		data = data[end+1:]
	}
}

// A Writer writes events and sends each on its way at once.
type Writer struct {
	w     io.Writer
	flush func() error
	buf   []byte
}

// NewWriter returns a Writer to w, which is flushed after every event where it can be.
func NewWriter(w io.Writer) *Writer {
	out := &Writer{w: w, flush: func() error { return nil }}
	if rw, ok := w.(http.ResponseWriter); ok {
		out.flush = http.NewResponseController(rw).Flush
	}
	return out
}

// Event writes one event.
func (w *Writer) Event(name string, data []byte) error {
	w.buf = Append(w.buf[:0], name, data)
	if _, err := w.w.Write(w.buf); err != nil {
		return err
	}
	return w.flush()
}
