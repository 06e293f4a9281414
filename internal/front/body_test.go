package front

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A slowpoke is a client that sends pieces of a body, each after a pause, and the connection to it.
type slowpoke struct {
	http.ResponseWriter
	pieces   []piece
	deadline time.Time
}

type piece struct {
	after time.Duration
	bytes int
}

func (s *slowpoke) SetReadDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *slowpoke) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	next := s.pieces[0]
	if left := time.Until(s.deadline); !s.deadline.IsZero() && left < next.after {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(next.after)
	s.pieces = s.pieces[1:]
	return min(len(p), next.bytes), nil
}

func (s *slowpoke) Close() error { return nil }

func TestABodyMustComeOn(t *testing.T) {
	const s = time.Second
	many := func(n int, p piece) (out []piece) {
		for range n {
			out = append(out, p)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		pieces []piece
		reader time.Duration // how long it is busy with each piece
		bytes  int
		fails  bool
		took   time.Duration
	}{
		{"AtOnce", []piece{{0, 900}}, 0, 900, false, 0},
		{"Nothing", []piece{{time.Hour, 900}}, 0, 0, true, 30 * s},
		{"Half", []piece{{29 * s, 900}, {time.Hour, 1}}, 0, 900, true, 30 * s},
		{"Drops", many(100, piece{s, 1}), 0, 30, true, 30 * s},
		{"SlowButSteady", many(100, piece{20 * s, 16 << 10}), 0, 100 << 14, false, 2000 * s},
		{"SlowReader", many(100, piece{s, 16 << 10}), 100 * s, 100 << 14, false, 100*s + 100*100*s},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &slowpoke{pieces: c.pieces}
				r, err := http.NewRequest("POST", "/", io.NopCloser(strings.NewReader("x")))
				if err != nil {
					t.Fatal(err)
				}
				r.Body, r.ContentLength = conn, -1
				begin, n := time.Now(), 0
				body := Timed(conn, r, 30*s).Body
				buf := make([]byte, 64<<10)
				for err == nil {
					var k int
					k, err = body.Read(buf)
					n += k
					if err == nil {
						time.Sleep(c.reader)
					}
				}
				var stopped *BodyError
				if errors.As(err, &stopped) != c.fails || n != c.bytes || time.Since(begin) != c.took {
					t.Errorf("%d bytes in %s, %v", n, time.Since(begin), err)
				}
				if c.fails && stopped.Status != http.StatusRequestTimeout {
					t.Errorf("status %d, want 408", stopped.Status)
				}
				if !c.fails && !conn.deadline.IsZero() {
					t.Error("a deadline is left for what is read next of the connection")
				}
			})
		})
	}
}

// Who carries a request to the upstream may go on to read when the handler is through with it, and the
// connection at its next request.
func TestABodyThatIsClosedSetsNoDeadlines(t *testing.T) {
	conn := &slowpoke{pieces: []piece{{0, 1}}}
	r := &http.Request{Body: conn, ContentLength: 10}
	body := Timed(conn, r, time.Minute).Body
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	conn.deadline = time.Time{}
	if _, err := body.Read(make([]byte, 8)); !errors.Is(err, http.ErrBodyReadAfterClose) || !conn.deadline.IsZero() {
		t.Errorf("it can be read, %v, until %s", err, conn.deadline)
	}
}
