package transport

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/internal/sse"
)

// A tee is the body of an answer that passes through while something beside it reads along.
type tee struct {
	body   io.ReadCloser
	answer dialect.AnswerReader
	keep   keep
	events *sse.Reader // nil: the answer is one JSON object
	whole  []byte      // of a JSON answer, as far as it came
	came   int         // bytes of it, kept or not
	length int64       // that was announced, else negative

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
func newTee(res *http.Response, d dialect.Dialect, s *hold.Share, done func(engine.Response)) *tee {
	organization := res.Header.Get(d.About().OrganizationHeader)
	t := &tee{body: res.Body, keep: keep{share: s}, length: res.ContentLength}
	t.answer = d.ReadAnswer(t.keep.more)
	t.done = func(a engine.Response) {
		a.Organization = organization
		done(a)
	}
	if streamed(res) {
		t.events = &sse.Reader{Handle: t.answer.Event, Max: maxEvent}
	}
	return t
}

// streamed reports whether an answer is a stream of events.
func streamed(res *http.Response) bool {
	return strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
}

// Read passes bytes on as they arrive. The answer ends before its client can know it, who may go on from it at once.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	if n > 0 {
		t.see(p[:n])
	}
	if errors.Is(err, io.EOF) || t.events != nil && t.answer.Ended() || t.events == nil && int64(t.came) == t.length {
		t.finish()
	}
	return n, err
}

func (t *tee) see(p []byte) {
	if t.events != nil {
		t.events.Write(p) // never fails
		return
	}
	t.came += len(p)
	if !t.keep.more(len(p)) {
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
			t.answer.Object(t.whole)
		}
		a := t.answer.Answer()
		if t.events == nil && t.whole == nil {
			a.Came = t.came
		}
		t.done(responseOf(&a))
	})
}

// responseOf returns an answer for the engine.
func responseOf(a *dialect.Answer) engine.Response {
	if a.Refused { // as a status of its own would have said
		return engine.Response{Status: http.StatusBadRequest}
	}
	return engine.Response{
		Status: http.StatusOK, ID: a.ID, Usage: a.Usage, Extra: a.Extra, Content: a.Content, Stop: a.Stop,
		Broken: a.Broken, Partial: a.Partial, Came: a.Came,
		Editing: a.Edited, Cleared: a.Cleared,
	}
}
