package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/dialect"
)

// A refusal says why a request may not pass, no matter who sends it.
type refusal struct {
	status  int
	message string
}

// answer refuses a request in an API's format.
func (no *refusal) answer(w http.ResponseWriter, api dialect.API) {
	refuse(w, api, no.status, dialect.Invalid, no.message)
}

// mostUnread is the maximum number of bytes of an unused body to read.
const mostUnread = 32 << 20

// nowhere are the reasons for which a request has no server to go to.
const (
	nowhere = "decant: requests of OpenAI's APIs are turned off here: this one was not forwarded, " +
		"and neither was its key. " +
		"Set openai_upstream in the settings, or give this client OpenAI's own base URL again"
	noAccount = "decant: this is a ChatGPT login, and openai_upstream is another server, which must not see its token. " +
		"Add a row to upstreams in the settings: {header: chatgpt-account-id, url: \"https://chatgpt.com/backend-api/codex\"}"
	foreignKey = "decant: this is a key of Anthropic's on its way to OpenAI: it was not forwarded. " +
		"Give this client a key of OpenAI's, or a row of its own in upstreams in the settings"
	unread = "decant: the body cannot be read, so the model that it asks for is not known, and it may be for one " +
		"server of upstreams alone. Send JSON, plain or packed with gzip or zstd, and no more than body_limit"
	noSocket = "decant: no WebSocket here; send the same as a request over HTTP"
)

// refuseRouted answers a request of an API that has no server to go to so that the client does not send it again:
// clients take a status of 500 and more, and a connection that ends while they send, for trouble that passes.
func refuseRouted(w http.ResponseWriter, r *http.Request, api dialect.API, message string) {
	io.CopyN(io.Discard, r.Body, mostUnread) // where the body does not come, this is the answer all the same
	h, status := w.Header(), http.StatusBadRequest
	if wantsSocket(r) { // it falls back to requests at this status alone
		status = http.StatusUpgradeRequired
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", "HTTP/1.1") // RFC 9110, 15.5.22: what is to be had instead
	}
	h.Set("X-Should-Retry", "false")
	refuse(w, api, status, dialect.Unsupported, message)
}

// wantsSocket reports whether a request asks for a WebSocket in its place.
func wantsSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1) &&
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// responses reports whether a request is at the door of the Responses API.
func responses(r *http.Request) bool {
	return strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/responses")
}

// mayWarn reports whether the log may warn of a request that has no server to go to. It may once a minute: a client
// that is set up wrongly makes many.
func (g *Gateway) mayWarn(now time.Time) bool {
	last := g.warned.Load()
	return now.UnixNano()-last >= int64(time.Minute) && g.warned.CompareAndSwap(last, now.UnixNano())
}

// unfit returns why a request is not fit for any upstream, nil when it is.
func unfit(r *http.Request) *refusal {
	switch {
	case r.Method == http.MethodConnect:
		return &refusal{http.StatusMethodNotAllowed, "decant: CONNECT is for proxies; set the client's base URL instead"}
	case r.Method == http.MethodTrace, r.Method == "TRACK":
		return &refusal{
			http.StatusMethodNotAllowed,
			"decant: " + r.Method + " would show the request's headers, keys included, to whoever reads the answer",
		}
	case climbs(r.URL.Path):
		return &refusal{http.StatusBadRequest, `decant: the path holds "..", which could leave the upstream's base URL; write it without`}
	}
	return nil
}

// climbs reports whether a path has a segment that any server may take for the folder above.
func climbs(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(c rune) bool {
		return c == '/' ||
			c == '\\'
	}), func(segment string) bool {
		name, _, _ := strings.Cut(segment, ";")
		return name == ".."
	})
}

// hosts are the names by which a gateway may be called. A page in a browser can reach a loopback listener through a
// name of its own that resolves to loopback; the Host header gives it away.
type hosts struct {
	check bool
	names []string
}

// containers are the names by which containers call their host. No page can own them.
var containers = []string{"host.docker.internal", "host.containers.internal"}

// strange returns why a request is not for this gateway, nil when it is.
func (h *hosts) strange(r *http.Request) *refusal {
	if !h.check || r.Host == "" || h.knows(hostname(r.Host)) {
		return nil
	}
	return &refusal{
		http.StatusMisdirectedRequest,
		fmt.Sprintf("decant: %q is not a name of this gateway; if it should be, add it to hosts in the settings",
			r.Host[:min(len(r.Host), 100)]),
	}
}

func (h *hosts) knows(name string) bool {
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(containers, name) ||
		slices.ContainsFunc(h.names, func(n string) bool { return strings.EqualFold(n, name) })
}

// hostname returns the host of a Host header, without its port and in small letters.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
