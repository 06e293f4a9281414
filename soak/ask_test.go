package soak

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// A manner is how a client behaves during one request.
type manner int

const (
	patient manner = iota // reads all of the answer
	slow                  // reads it in small pieces with pauses
	leaving               // leaves when the first bytes of the answer are there
	falling               // leaves in the middle of its own request
	hurried               // leaves when nothing has come for two seconds
)

// A question is one request.
type question struct {
	method, path string
	body         []byte
	who          *tenant
	session      string
	manner       manner
	fault        string   // asked of the upstream
	header       []string // more of them, by turns name and value
}

// An outcome is what became of a question.
type outcome struct {
	status                           int
	id, conversation, fault, refused string // of the answer's headers
	body                             []byte
	whole                            bool // the answer came to its end
	err                              error
}

// errFall is why a body ends too early.
var errFall = errors.New("the client falls silent")

// falls ends a body with an error.
type falls struct{}

// Read fails.
func (falls) Read([]byte) (int, error) { return 0, errFall }

// ask sends a request and reads its answer in the question's manner.
func (c *client) ask(q *question) *outcome {
	limit := time.Minute
	if q.manner == hurried {
		limit = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit) // not the lap's: what was begun is ended
	defer cancel()
	var body io.Reader = bytes.NewReader(q.body)
	if q.manner == falling {
		body = io.MultiReader(bytes.NewReader(q.body[:len(q.body)/2]), falls{})
	}
	r, err := http.NewRequestWithContext(ctx, q.method, c.s.gate.base+q.path, body)
	if err != nil {
		return &outcome{err: err}
	}
	r.ContentLength = int64(len(q.body))
	c.dress(r, q)
	res, err := c.http.Do(r)
	if err != nil {
		return &outcome{err: err}
	}
	defer res.Body.Close()
	h := res.Header
	o := &outcome{
		status: res.StatusCode, id: h.Get("Request-Id"), conversation: h.Get("X-Decant-Conversation"),
		fault: h.Get("X-Decant-Fault"), refused: h.Get("X-Decant-Refused"),
	}
	o.read(res, q.manner)
	return o
}

// dress gives a request its headers.
func (c *client) dress(r *http.Request, q *question) {
	h := r.Header
	h.Set("X-Api-Key", "sk-soak-"+q.who.name)
	h.Set("Anthropic-Version", "2023-06-01")
	h.Set("X-Decant-Key", q.who.key)
	if q.body != nil {
		h.Set("Content-Type", "application/json")
	}
	if q.session != "" {
		h.Set("X-Decant-Session", q.session)
	}
	if q.fault != "" {
		h.Set(faultHeader, q.fault)
	}
	for i := 0; i+1 < len(q.header); i += 2 {
		h.Set(q.header[i], q.header[i+1])
	}
}

// read reads an answer.
func (o *outcome) read(res *http.Response, m manner) {
	switch m {
	case leaving:
		io.ReadFull(res.Body, make([]byte, 100)) // it leaves whatever came
		return
	case slow:
		o.body, o.err = io.ReadAll(&pausing{res.Body})
	default:
		o.body, o.err = io.ReadAll(res.Body)
	}
	o.whole = o.err == nil
	if res.Header.Get("Content-Type") == "text/event-stream" || bytes.HasPrefix(o.body, []byte("event: ")) {
		o.whole = o.whole && bytes.Contains(o.body, []byte("event: message_stop"))
	}
}

// pausing reads little at a time.
type pausing struct{ r io.Reader }

// Read waits first.
func (p *pausing) Read(b []byte) (int, error) {
	time.Sleep(2 * time.Millisecond)
	return p.r.Read(b[:min(len(b), 256)])
}
