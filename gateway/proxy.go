package gateway

import (
	"net/http"
	"net/http/httputil"
	"sync"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/secret"
)

// rewrite turns a client's request into one for its upstream. Besides what HTTP demands of every hop it
// changes only the destination, and restores what ReverseProxy cleans or drops.
func (g *Gateway) rewrite(p *httputil.ProxyRequest) {
	v, out := of(p.In.Context()), p.Out
	out.Host = ""
	out.URL.User, out.URL.RawQuery, out.URL.ForceQuery = nil, p.In.URL.RawQuery, p.In.URL.ForceQuery
	if v.target != nil { // else the model decides
		v.target.address(out, v.api)
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := p.In.Header[name]; ok {
			out.Header[name] = v
		}
	}
}

// buffers is a pool of the buffers through which answers pass.
type buffers struct{ pool sync.Pool }

const bufferSize = 16 << 10

// Get returns a buffer.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

// Put returns a buffer to the pool.
func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }

// The headers that tell the gateway's own answers from the upstream's.
const (
	faultHeader   = "X-Decant-Fault"   // a step of Decant's own failed, or the upstream gave no answer
	refusedHeader = "X-Decant-Refused" // the request may not pass
)

// refuse answers a request that may not pass, in an API's format.
func refuse(w http.ResponseWriter, api dialect.API, status int, why dialect.Cause, message string) {
	w.Header().Set(refusedHeader, secret.OneLine(message))
	write(w, status, api.Refuse(why, message))
}

// write writes a JSON answer of the gateway's own.
func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	delete(h, "Date")
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) // a client that has left needs no answer
}
