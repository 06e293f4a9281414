package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A refusal says why a request may not pass, no matter who sends it.
type refusal struct {
	status  int
	message string
}

// answer refuses a request in the API's format.
func (no *refusal) answer(w http.ResponseWriter) {
	refuse(w, no.status, "invalid_request_error", no.message)
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
