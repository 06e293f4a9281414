package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/dialect/index"
	"github.com/decantdev/decant/dialect/openai"
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

// unmanaged are the APIs that are known and not managed. Their requests do not go to the upstream.
var unmanaged = []dialect.API{openai.API{}}

// doorOf returns which API a request is of, and which of its doors it is at.
func doorOf(r *http.Request) (dialect.API, dialect.Door) {
	for _, api := range unmanaged {
		if door := api.Door(r); door.Kind != dialect.Unknown {
			return api, door
		}
	}
	return index.Find(r)
}

// unmanagedText is the message that the user of such a client reads.
const unmanagedText = "decant: this gateway manages Anthropic's Messages API only. This is a request of OpenAI's API: it was not forwarded, and neither was its key. " +
	"Give this client OpenAI's own base URL again. Its session files can be made smaller: decant compact --help"

// refuseUnmanaged answers a request of an API that is not managed, and asks the client not to retry.
func refuseUnmanaged(w http.ResponseWriter, api dialect.API) {
	w.Header().Set("X-Should-Retry", "false")
	w.Header().Set(refusedHeader, "a request of OpenAI's API")
	write(w, http.StatusNotImplemented, api.Refuse(dialect.Unsupported, unmanagedText))
}

// unfit returns why a request is not fit for any upstream, nil when it is.
func unfit(r *http.Request) *refusal {
	switch {
	case r.Method == http.MethodConnect:
		return &refusal{http.StatusMethodNotAllowed, "decant: CONNECT is for proxies; set the client's base URL instead"}
	case r.Method == http.MethodTrace, r.Method == "TRACK":
		return &refusal{http.StatusMethodNotAllowed, "decant: " + r.Method + " would show the request's headers, keys included, to whoever reads the answer"}
	case climbs(r.URL.Path):
		return &refusal{http.StatusBadRequest, `decant: the path holds "..", which could leave the upstream's base URL; write it without`}
	}
	return nil
}

// climbs reports whether a path has a segment that any server may take for the folder above.
func climbs(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' }), func(segment string) bool {
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
	return &refusal{http.StatusMisdirectedRequest, fmt.Sprintf("decant: %q is not a name of this gateway; if it should be, add it to hosts in the settings", r.Host[:min(len(r.Host), 100)])}
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
