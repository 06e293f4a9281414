package front

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A peer is the other end of a connection.
type peer struct {
	conn net.Conn

	once  sync.Once
	other bool // a process of another user of this machine
}

type peerKey struct{}

// withPeer notes the connection of the requests that come over it, for http.Server.ConnContext.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, &peer{conn: c})
}

// OtherUser reports whether a request over loopback was sent by a process of another user of this machine, root apart.
// The server must be one that [Server] made. It is false for what comes from elsewhere, and on systems that do not say
// who a connection belongs to; Linux does, in proc(5).
func OtherUser(r *http.Request) bool {
	p, ok := r.Context().Value(peerKey{}).(*peer)
	if !ok {
		return false
	}
	p.once.Do(func() { p.other = ofOther(p.conn) })
	return p.other
}

// ofOther reports whether the other end of a connection belongs to another user.
func ofOther(c net.Conn) bool {
	client, ok := c.RemoteAddr().(*net.TCPAddr)
	server, is := c.LocalAddr().(*net.TCPAddr)
	return ok && is && client.IP.IsLoopback() && !own(client.AddrPort(), server.AddrPort())
}
