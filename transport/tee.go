package transport

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/sse"
)

// A tee is the body of an answer that passes through while something beside it reads along.
type tee struct {
	body   io.ReadCloser
	answer answer
	events *sse.Reader // nil: the answer is one JSON object
	whole  []byte      // of a JSON answer, as far as it came
	over   bool        // it is too large to keep

	once sync.Once
	done func(engine.Response)
}

// maxAnswer is how much of a JSON answer is kept to be read at its end.
const maxAnswer = 64 << 20

func newTee(res *http.Response, done func(engine.Response)) *tee {
	organization := res.Header.Get("Anthropic-Organization-Id")
	t := &tee{body: res.Body, done: func(a engine.Response) {
		a.Organization = organization
		done(a)
	}}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.events = &sse.Reader{Handle: t.answer.event}
	}
	return t
}

// Read passes on what comes, as it comes. The answer is over when the client is told so.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	if n > 0 {
		t.see(p[:n])
	}
	if errors.Is(err, io.EOF) {
		t.finish()
	}
	return n, err
}

func (t *tee) see(p []byte) {
	switch {
	case t.events != nil:
		t.events.Write(p) // never fails
	case len(t.whole)+len(p) > maxAnswer:
		t.over, t.whole = true, nil
	case !t.over:
		t.whole = append(t.whole, p...)
	}
}

// Close ends the answer, also one that the client did not read to its end.
func (t *tee) Close() error {
	err := t.body.Close()
	t.finish()
	return err
}

func (t *tee) finish() {
	t.once.Do(func() {
		if t.events == nil && !t.over {
			t.answer.object(t.whole)
		}
		t.done(t.answer.response())
	})
}
