package transport

import (
	"bytes"
	"io"
	"net/http"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/sse"
)

// maxOpening is how much is read of an answer that may be a summary, in bytes. A summary is never as large.
const maxOpening = 4 << 20

// opening reads an answer far enough to know whether it is a summary behind which the model has paused, and
// then all of it. Of any other it puts back what was read.
func opening(d dialect.Dialect, res *http.Response) (a dialect.Answer, paused bool) {
	p, ok := d.(dialect.Pauser)
	if !ok {
		return a, false
	}
	answer := d.ReadAnswer(func(int) bool { return true }) // which maxOpening bounds
	var head bytes.Buffer
	var err error
	if streamed(res) {
		paused, err = openStream(p, answer, res.Body, &head)
		a = answer.Answer()
	} else {
		_, err = io.Copy(&head, io.LimitReader(res.Body, maxOpening))
		answer.Object(head.Bytes())
		a = answer.Answer()
		_, paused = p.Paused(a.Content)
	}
	if !paused {
		res.Body = &joined{Reader: io.MultiReader(&head, rest(res.Body, err)), Closer: res.Body}
	}
	return a, paused
}

// openStream is opening for a stream. What it has read is in head. A summary that breaks off is one: its
// answer says so.
func openStream(p dialect.Pauser, answer dialect.AnswerReader, body io.Reader, head *bytes.Buffer) (summary bool, err error) {
	known := false
	events := sse.Reader{Max: maxOpening, Handle: func(name, data []byte) {
		if !known {
			summary, known = p.Opens(name, data)
		}
		answer.Event(name, data)
	}}
	err = readUntil(body, head, &events, func() bool { return known || head.Len() >= maxOpening })
	if summary && err == nil {
		_, err = io.Copy(&events, io.LimitReader(body, maxOpening))
	}
	return summary, err
}

// joined is a body of which something has been read already.
type joined struct {
	io.Reader
	io.Closer
}

// readUntil reads a body into head and to a writer until enough was read, and returns the error that ended it before.
func readUntil(body io.Reader, head *bytes.Buffer, to io.Writer, enough func() bool) error {
	buf := make([]byte, 4<<10)
	for !enough() {
		n, err := body.Read(buf)
		head.Write(buf[:n])
		_, _ = to.Write(buf[:n]) // never fails
		if err != nil {
			return err
		}
	}
	return nil
}

// rest returns what follows of a body whose reading has ended with an error, or has not ended.
func rest(body io.Reader, err error) io.Reader {
	if err == nil {
		return body
	}
	return failing{err}
}

// failing is a reader that has ended.
type failing struct{ err error }

// Read returns the error.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
