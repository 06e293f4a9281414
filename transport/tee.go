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

	once sync.Once
	done func(engine.Response)
}

// maxAnswer is how much of an answer is kept to be read at its end, in bytes. What is larger passes like any other;
// what was said in it is not archived.
const maxAnswer = 64 << 20

// maxEvent is the largest event of a stream that is read. The largest that the API sends are results of its own
// tools, which come in one piece.
const maxEvent = 32 << 20

// newTee returns the body of an answer, whose content is held in a share.
func newTee(res *http.Response, s *share, done func(engine.Response)) *tee {
	organization := res.Header.Get("Anthropic-Organization-Id")
	t := &tee{body: res.Body, answer: answer{keep: keep{share: s}}, done: func(a engine.Response) {
		a.Organization = organization
		done(a)
	}}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.events = &sse.Reader{Handle: t.answer.event, Max: maxEvent}
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
	if t.events != nil {
		t.events.Write(p) // never fails
		return
	}
	t.answer.came += len(p)
	if !t.answer.keep.more(len(p)) {
		t.whole = nil
		return
	}
	t.whole = append(t.whole, p...)
}

// Close ends the answer, also one that the client did not read to its end.
func (t *tee) Close() error {
	err := t.body.Close()
	t.finish()
	return err
}

func (t *tee) finish() {
	t.once.Do(func() {
		if t.events == nil {
			t.answer.object(t.whole)
		}
		t.done(t.answer.response())
	})
}
