package main

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answering is how long the end of the input is held back until all requests are answered.
const answering = 30 * time.Second

// A dialogue is the two streams of a server, one message on each line. The input does not end before what it asked is
// answered, so that questions can be piped in.
type dialogue struct {
	in  io.Reader
	out io.Writer

	mu           sync.Mutex
	asked, known map[string]bool // ids of requests; known are those that are answered
	part         []byte          // of a line that is not complete
	changed      chan struct{}
}

func newDialogue(in io.Reader, out io.Writer) *dialogue {
	return &dialogue{in: in, out: out, asked: map[string]bool{}, known: map[string]bool{}, changed: make(chan struct{}, 1)}
}

// Read implements io.Reader.
func (d *dialogue) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	d.mu.Lock()
	d.part = append(d.part, p[:n]...)
	for {
		line, rest, ok := bytes.Cut(d.part, []byte("\n"))
		if !ok {
			break
		}
		d.part = rest
		if id, method := messageOf(line); method && id != "" {
			d.asked[id] = true
		}
	}
	d.mu.Unlock()
	if err != nil {
		d.wait()
	}
	return n, err
}

// Write implements io.Writer. A message comes in one piece.
func (d *dialogue) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	if id, method := messageOf(p); !method && id != "" {
		d.mu.Lock()
		d.known[id] = true
		d.mu.Unlock()
		select {
		case d.changed <- struct{}{}:
		default:
		}
	}
	return n, err
}

// wait waits until all requests are answered.
func (d *dialogue) wait() {
	late := time.After(answering)
	for {
		d.mu.Lock()
		open := len(d.asked) - len(d.known)
		d.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-d.changed:
		case <-late:
			return
		}
	}
}

// Close implements io.Closer. The streams are somebody else's.
func (d *dialogue) Close() error { return nil }

// messageOf returns the id of a message, empty if it has none, and whether it names a method.
func messageOf(line []byte) (id string, method bool) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if json.Unmarshal(line, &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return "", false
	}
	return string(m.ID), m.Method != ""
}
