package front

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server returns a server with limits of time and of connections. Answers have no limit of time, because
// streams are long, and bodies have that of Timed. log is told at most once a minute that there are too many
// connections.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	c := &crowd{most: mostConnections(), log: log, resting: map[net.Conn]time.Time{}}
	return &http.Server{
		Handler: h, ConnState: c.change, ConnContext: withPeer, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// A crowd is the connections of a server. When there are as many as there may be, the one that has made no
// request for the longest time is closed for the next one; if all of them are at a request, the next one is. Half
// of them may come from one address of another machine; on this one a proxy may speak for everybody.
type crowd struct {
	most int
	log  *slog.Logger

	mu      sync.Mutex
	resting map[net.Conn]time.Time // since when; zero: it is at a request
	told    time.Time
}

// change notes what a connection has come to, for http.Server.ConnState.
func (c *crowd) change(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.resting[conn]
	from := sender(conn)
	switch {
	case s == http.StateNew && (c.full(from) && !c.leave(from) || len(c.resting) >= c.most && !c.leave("")):
		conn.Close()
	case s == http.StateNew, s == http.StateIdle && known:
		c.resting[conn] = time.Now()
	case s == http.StateActive && known:
		c.resting[conn] = time.Time{}
	case s == http.StateClosed, s == http.StateHijacked:
		delete(c.resting, conn)
	}
}

// sender returns the address of a client on another machine, empty for one on this machine.
func sender(conn net.Conn) string {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		return a.IP.String()
	}
	return ""
}

// full reports whether an address of another machine has all connections that it may have.
func (c *crowd) full(from string) bool {
	if from == "" || len(c.resting) < c.most/2 {
		return false
	}
	n := 0
	for conn := range c.resting {
		if sender(conn) == from {
			n++
		}
	}
	return n >= c.most/2
}

// leave closes the connection of an address, or of anybody, that has rested for the longest time, and reports whether
// there is one.
func (c *crowd) leave(from string) bool {
	if now := time.Now(); now.Sub(c.told) >= time.Minute {
		c.told = now
		c.log.Warn("there are as many connections as there may be; those that make no request are closed for new ones",
			"connections", c.most)
	}
	var oldest net.Conn
	for conn, since := range c.resting {
		if !since.IsZero() && (from == "" || sender(conn) == from) && (oldest == nil || since.Before(c.resting[oldest])) {
			oldest = conn
		}
	}
	if oldest == nil {
		return false
	}
	delete(c.resting, oldest)
	if under, ok := oldest.(interface{ NetConn() net.Conn }); ok {
		oldest = under.NetConn() // to end TLS properly could take seconds
	}
	oldest.Close()
	return true
}

// connections returns how many connections there may be where so many files may be open: each may need a
// second one, for the upstream, and so do a few other things.
func connections(files uint64) int {
	const most, others = 10_000, 64
	if files < 2*others {
		return others / 4
	}
	return int(min(most, (files-others)/2))
}
