package modelhttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// ErrDestination means that a call would have gone to a host that is not on the list.
var ErrDestination = errors.New("destination is not allowed")

// OutboundOptions configures an Outbound.
type OutboundOptions struct {
	// Allow lists the destinations by scheme, host and port; paths do not matter.
	Allow []*url.URL

	// CA holds PEM certificates of authorities to trust besides the system's.
	CA [][]byte

	// Proxy returns the proxy for a request. Nil means the one that HTTPS_PROXY, HTTP_PROXY and
	// NO_PROXY name.
	Proxy func(*http.Request) (*url.URL, error)
}

// Outbound is the way out of the process: an http.RoundTripper that talks only to the destinations on
// its list. All clients of a process share one, so that no feature can be tricked into calling
// somewhere else. It checks every request by its URL, redirects included, and every connection by its
// address. It is safe for concurrent use.
type Outbound struct {
	allowed map[string]bool // scheme://host:port
	dial    map[string]bool // host:port
	base    *http.Transport
	dialer  net.Dialer
	proxy   func(*http.Request) (*url.URL, error)

	mu      sync.Mutex
	proxies map[string]bool // host:port of proxies named by the environment
}

var _ http.RoundTripper = (*Outbound)(nil)

// NewOutbound returns the way out to some destinations.
func NewOutbound(o OutboundOptions) (*Outbound, error) {
	out := &Outbound{
		allowed: map[string]bool{}, dial: map[string]bool{}, proxies: map[string]bool{},
		dialer: net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}, proxy: o.Proxy,
	}
	if out.proxy == nil {
		out.proxy = http.ProxyFromEnvironment
	}
	for _, u := range o.Allow {
		out.allowed[u.Scheme+"://"+address(u)] = true
		out.dial[address(u)] = true
	}
	roots, err := authorities(o.CA)
	if err != nil {
		return nil, err
	}
	out.base = &http.Transport{
		Proxy: out.chooseProxy, DialContext: out.connect, TLSClientConfig: &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second, ExpectContinueTimeout: time.Second,
		DisableCompression: true, // the client decides which encodings it accepts
		// HTTP/2 connections are probed, so that a dead one does not swallow the next request.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
	return out, nil
}

// authorities returns the system's authorities together with those in pems; nil means only the system's.
func authorities(pems [][]byte) (*x509.CertPool, error) {
	if len(pems) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the system has none: use only the given ones
	}
	for i, pem := range pems {
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("authorities: no certificate in file %d; want PEM", i+1)
		}
	}
	return pool, nil
}

// RoundTrip implements http.RoundTripper.
func (o *Outbound) RoundTrip(r *http.Request) (*http.Response, error) {
	if !o.allowed[r.URL.Scheme+"://"+address(r.URL)] {
		if r.Body != nil {
			r.Body.Close() // as a RoundTripper must
		}
		return nil, fmt.Errorf("%s://%s: %w", r.URL.Scheme, r.URL.Host, ErrDestination)
	}
	return o.base.RoundTrip(r)
}

// CloseIdleConnections closes idle connections.
func (o *Outbound) CloseIdleConnections() { o.base.CloseIdleConnections() }

// chooseProxy returns the proxy for a request and allows connections to it.
func (o *Outbound) chooseProxy(r *http.Request) (*url.URL, error) {
	u, err := o.proxy(r)
	if err != nil || u == nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.proxies[address(u)] = true
	return u, nil
}

// connect opens a connection to a destination or a proxy.
func (o *Outbound) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	o.mu.Lock()
	ok := o.dial[addr] || o.proxies[addr]
	o.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s: %w", addr, ErrDestination)
	}
	return o.dialer.DialContext(ctx, network, addr)
}

// address returns host:port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		switch u.Scheme {
		case "http":
			port = "80"
		case "socks5", "socks5h":
			port = "1080"
		default:
			port = "443"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}
