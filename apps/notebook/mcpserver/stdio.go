package mcpserver

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers is how long the end of the input is held back for outstanding answers.
const lastAnswers = 30 * time.Second

// Stdio returns a transport over two streams, one message on each line. The end of the input arrives only
// after all requests were answered, so that requests can be piped in.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	d := &dialogue{in: in, out: out, asked: map[string]bool{}, answered: map[string]bool{}, changed: make(chan struct{}, 1)}
	return &sdk.IOTransport{Reader: d, Writer: d}
}

// A dialogue is the two streams of Stdio.
type dialogue struct {
	in  io.Reader
	out io.Writer

	mu              sync.Mutex
	asked, answered map[string]bool // ids of requests
	part            []byte          // incomplete line
	changed         chan struct{}
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

// Write implements io.Writer. The SDK writes a message at once.
func (d *dialogue) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	if id, method := messageOf(p); !method && id != "" {
		d.mu.Lock()
		d.answered[id] = true
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
	late := time.After(lastAnswers)
	for {
		d.mu.Lock()
		open := len(d.asked) - len(d.answered)
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

// Close implements io.Closer. The streams belong to the caller.
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
