package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/internal/rpcline"
)

// lastAnswers is how long the end of the input is held back for outstanding answers.
const lastAnswers = 30 * time.Second

// Stdio returns a transport over two streams, one message on each line. A line that is not a message is answered with
// an error, and the next one is read. The end of the input arrives only after all requests were answered, so that
// requests can be piped in.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	d := &dialogue{in: rpcline.NewReader(in), out: out, open: map[jsonrpc.ID]int{}, changed: make(chan struct{}, 1)}
	d.in.Heard, d.in.Bad = d.heard, d.refuse
	return &sdk.IOTransport{Reader: d, Writer: d}
}

// A dialogue is the two streams of Stdio.
type dialogue struct {
	in  *rpcline.Reader
	out io.Writer

	mu      sync.Mutex
	open    map[jsonrpc.ID]int // requests without an answer
	changed chan struct{}
}

// heard notes a request.
func (d *dialogue) heard(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		d.note(r.ID, 1)
	}
}

// note changes how many requests of an id are open.
func (d *dialogue) note(id jsonrpc.ID, by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[id] += by; d.open[id] <= 0 {
		delete(d.open, id)
	}
}

// Read implements io.Reader.
func (d *dialogue) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	if err != nil {
		d.wait()
	}
	return n, err
}

// Write implements io.Writer. The SDK writes a message at once.
func (d *dialogue) Write(p []byte) (int, error) {
	n, err := d.write(p)
	if m, bad := jsonrpc.DecodeMessage(p); bad == nil {
		if r, ok := m.(*jsonrpc.Response); ok {
			d.note(r.ID, -1)
		}
	}
	select {
	case d.changed <- struct{}{}:
	default:
	}
	return n, err
}

func (d *dialogue) write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Write(p)
}

// refuse answers a line that is not a message, with its id where it has one.
func (d *dialogue) refuse(line []byte, reason error) {
	var asked struct {
		ID any `json:"id"`
	}
	code := jsonrpc.CodeInvalidRequest
	if errors.Is(reason, rpcline.ErrNotJSON) || errors.Is(reason, rpcline.ErrLong) {
		code = jsonrpc.CodeParseError
	} else {
		_ = json.Unmarshal(line, &asked) // a list has no id
	}
	switch asked.ID.(type) {
	case string, float64:
	default:
		asked.ID = nil
	}
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": asked.ID, "error": map[string]any{"code": code, "message": fmt.Sprintf("want one message of JSON-RPC 2.0 on each line: %v", reason)},
	})
	if err == nil {
		_, _ = d.write(append(answer, '\n')) // a stream that has gone fails the next answer, too
	}
}

// wait waits until all requests are answered.
func (d *dialogue) wait() {
	late := time.After(lastAnswers)
	for {
		d.mu.Lock()
		open := len(d.open)
		d.mu.Unlock()
		if open == 0 {
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
