package sandbox

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Pipe serves the sandbox inside the process, without a socket: real HTTP over [net.Pipe], which
// also works in a bubble of testing/synctest, where stalls and slow streams take no time. Any host
// name reaches it. The function that it returns stops the server and closes its connections.
func (s *Server) Pipe() (*http.Transport, func()) {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: s}
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(l) }) // it ends when the server is closed
	rt := &http.Transport{DialContext: l.dial}
	return rt, func() {
		rt.CloseIdleConnections()
		srv.Close()
		serving.Wait()
	}
}

// A pipeListener accepts the other ends of the pipes that it dials.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and all dialing.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns an address that says no more than "pipe".
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
