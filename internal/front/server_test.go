package front

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/testkit"
)

// crowded starts a server with two connections at most. A request for /wait is answered when wait is closed.
func crowded(t *testing.T) (address string, waits chan struct{}, wait chan struct{}, log *strings.Builder) {
	log, waits, wait = &strings.Builder{}, make(chan struct{}), make(chan struct{})
	gone := make(chan struct{})
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			waits <- struct{}{}
			select {
			case <-wait:
			case <-gone: // the test has failed
			}
		}
	}), slog.New(slog.DiscardHandler))
	c := &crowd{most: 2, log: slog.New(slog.NewTextHandler(log, nil)), resting: map[net.Conn]time.Time{}}
	s.Config.ConnState = c.change
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(gone) })
	return s.Listener.Addr().String(), waits, wait, log
}

// A caller is a connection.
type caller struct {
	net.Conn
	*bufio.Reader
}

func call(t *testing.T, address string) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &caller{conn, bufio.NewReader(conn)}
}

// ask makes a request, and get reads the answer.
func (c *caller) ask(path string) { fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path) }

func (c *caller) get() error {
	res, err := http.ReadResponse(c.Reader, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	return err
}

// served returns a connection that has been answered. The server may not know yet that the one before it rests.
func served(t *testing.T, address string) *caller {
	t.Helper()
	return testkit.EventuallyGot(t, "a connection is answered", func() (*caller, bool) {
		c := call(t, address)
		c.ask("/")
		return c, c.get() == nil
	})
}

// Read reads from the buffer.
func (c *caller) Read(p []byte) (int, error) { return c.Reader.Read(p) }

// Connections that make no request make way for new ones, the one that has rested the longest first; those
// that make one stay.
func TestConnectionsThatRestMakeWay(t *testing.T) {
	at, waits, wait, log := crowded(t)
	working := call(t, at)
	working.ask("/wait")
	<-waits
	resting := served(t, at)
	for range 3 {
		next := served(t, at)
		if _, err := resting.Read(make([]byte, 1)); err == nil {
			t.Error("the one that has rested is still open")
		}
		resting = next
	}
	close(wait)
	if err := working.get(); err != nil {
		t.Errorf("the one at a request was cut: %v", err)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("the log warns %d times, want once a minute", n)
	}
}

// Where all connections are at a request, the next one is closed at once; it does not wait for strangers to end theirs.
func TestConnectionsBeyondTheLimit(t *testing.T) {
	at, waits, wait, _ := crowded(t)
	a, b := call(t, at), call(t, at)
	for _, c := range []*caller{a, b} {
		c.ask("/wait")
		<-waits
	}
	if err := call(t, at).get(); err == nil {
		t.Error("a third one is answered")
	}
	close(wait)
	for _, c := range []*caller{a, b} {
		if err := c.get(); err != nil {
			t.Errorf("one at a request was cut: %v", err)
		}
	}
	served(t, at)
}

// An address is that of a connection.
type at struct {
	net.Conn
	ip string
}

func (a at) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(a.ip)} }

// One address of another machine has half of the connections, however many it makes. A proxy on this machine speaks for
// everybody.
func TestOneClientLeavesRoomForOthers(t *testing.T) {
	for ip, want := range map[string]int{"192.0.2.1": 5, "2001:db8::1": 5, "127.0.0.1": 10, "::1": 10} {
		c := &crowd{most: 10, log: slog.New(slog.DiscardHandler), resting: map[net.Conn]time.Time{}}
		enter := func(ip string) bool {
			end, _ := net.Pipe()
			conn := at{end, ip}
			c.change(conn, http.StateNew)
			c.change(conn, http.StateActive)
			_, in := c.resting[conn]
			return in
		}
		in := 0
		for range 20 {
			if enter(ip) {
				in++
			}
		}
		if in != want {
			t.Errorf("%s has %d connections, want %d", ip, in, want)
		}
		if in < 10 && !enter("192.0.2.2") {
			t.Errorf("%s keeps others out", ip)
		}
	}
}

// Halves of bodies by strangers end at their time, however many there are, and others are served meanwhile.
func TestHalvesOfBodies(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = Timed(w, r, time.Second)
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(err.(*BodyError).Status)
		}
	}), slog.New(slog.DiscardHandler))
	s.Start()
	defer s.Close()
	var halves []*caller
	for range 400 {
		c := call(t, s.Listener.Addr().String())
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33000000\r\n\r\n{")
		halves = append(halves, c)
	}
	other := call(t, s.Listener.Addr().String())
	other.ask("/")
	if err := other.get(); err != nil {
		t.Errorf("another client: %v", err)
	}
	for i, c := range halves {
		if res, err := http.ReadResponse(c.Reader, nil); err != nil || res.StatusCode != http.StatusRequestTimeout || !res.Close {
			t.Fatalf("half %d: %+v, %v", i, res, err)
		}
	}
}

// A request that is answered before its body came, such as one without a key, is answered although the body
// never comes.
func TestABodyThatNobodyReads(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Timed(w, r, time.Millisecond)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	c := call(t, s.Listener.Addr().String())
	fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
	res, err := http.ReadResponse(c.Reader, nil)
	if err != nil || res.StatusCode != http.StatusUnauthorized || !res.Close {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestConnectionsFitTheFiles(t *testing.T) {
	for files, want := range map[uint64]int{0: 16, 64: 16, 128: 32, 256: 96, 1024: 480, 20_000: 9968, 1 << 20: 10_000, math.MaxUint64: 10_000} {
		if got := connections(files); got != want {
			t.Errorf("with %d files there may be %d connections, want %d", files, got, want)
		}
	}
	if n := mostConnections(); n < 16 || n > 10_000 {
		t.Errorf("here there may be %d connections", n)
	}
}
