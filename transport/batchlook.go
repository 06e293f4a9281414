package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/decantdev/decant/internal/batch"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/hold"
)

// follow sends a request on that looks at a batch. When the batch is booked and the answer says what it came to, that
// is booked instead.
func (t *Transport) follow(r *http.Request, d dialect.Dialect, door dialect.Door) (*http.Response, error) {
	tenant, err := t.opts.Tenant(r)
	if err != nil {
		return refuseUnread(d, r, http.StatusUnauthorized, dialect.Unauthenticated, err.Error()), nil
	}
	s := t.engine.Load().Batches().Booked(r.Context(), tenant, door.Batch)
	if s == nil {
		return t.send(outgoing(r))
	}
	out := outgoing(r)
	out.Header.Set("Accept-Encoding", "identity") // so that usage can be read
	res, err := t.send(out)
	if err != nil || res.StatusCode != http.StatusOK || plain(res) != nil {
		return res, err
	}
	batches := d.(dialect.Batcher) // it has the door
	read := &lines{share: t.space.Share(tenant), most: maxStatus, each: batches.BatchUnused}
	if door.Kind == dialect.BatchResults {
		read.most, read.split, read.each = maxResult, true, func(line []byte) bool { return addResult(s, batches, line) }
	}
	res.Body = &followed{body: res.Body, lines: read, settle: s.Settle}
	return res, nil
}

// The largest line that is read: a result is a whole message, or an error.
const (
	maxStatus = 1 << 20
	maxResult = 32 << 20
)

// addResult adds what one request of a batch has used. It reports false for a line that is not understood.
func addResult(s *batch.Settlement, d dialect.Batcher, line []byte) bool {
	r, ok := d.BatchResult(line)
	if ok && r.Answered {
		s.Add(r.Model, r.Usage)
	}
	return ok
}

// A followed is the body of an answer that is read line by line beside the client. When all of it has come and all of
// it was understood, it is settled.
type followed struct {
	body   io.ReadCloser
	lines  *lines
	settle func()
	once   sync.Once
}

// Read passes on what comes.
func (f *followed) Read(p []byte) (int, error) {
	n, err := f.body.Read(p)
	f.lines.write(p[:n])
	if errors.Is(err, io.EOF) {
		f.once.Do(func() {
			if f.lines.end() {
				f.settle()
			}
		})
	}
	return n, err
}

// Close ends the answer. One that the client has not read to its end settles nothing.
func (f *followed) Close() error {
	f.lines.share.Release()
	return f.body.Close()
}

// lines calls each for every line of what is written to it, until one is too long or not understood; without split for
// all of it as one.
type lines struct {
	share  *hold.Share
	split  bool
	most   int
	each   func(line []byte) bool
	buf    []byte
	seen   int // lines
	failed bool
}

func (l *lines) write(p []byte) {
	if !l.split {
		l.add(p)
		return
	}
	for len(p) > 0 && !l.failed {
		head, rest, whole := bytes.Cut(p, []byte{'\n'})
		if l.add(head); whole {
			l.line()
		}
		p = rest
	}
}

// add adds to the line.
func (l *lines) add(text []byte) {
	if n := len(l.buf) + len(text); n > cap(l.buf) {
		if n > l.most || !l.share.Take(int64(2*n-cap(l.buf))) {
			l.failed = true
			return
		}
		l.buf = append(make([]byte, 0, 2*n), l.buf...)
	}
	l.buf = append(l.buf, text...)
}

// line ends a line. An empty one says nothing.
func (l *lines) line() {
	if len(l.buf) > 0 && !l.failed {
		l.seen++
		l.failed = !l.each(l.buf)
	}
	l.buf = l.buf[:0]
}

// end ends the last line, and reports whether there were any and all were understood.
func (l *lines) end() bool {
	l.line()
	return !l.failed && l.seen > 0
}
