package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// show shows the metrics to those who may see them. They are sums of all tenants, so a tenant's key is not
// enough.
func (g *Gateway) show(w http.ResponseWriter, r *http.Request) {
	if g.opts.MetricsToken == "" && g.opts.Keys != nil && g.opts.Keys.Closed() {
		refuse(w, http.StatusForbidden, "permission_error",
			"decant: metrics are sums of all tenants, and no tenant's key shows them; set metrics_token for a bearer token, or metrics_listen for a listener of their own")
		return
	}
	g.export(w, r)
}

// export writes the metrics, to those who have the token where there is one.
func (g *Gateway) export(w http.ResponseWriter, r *http.Request) {
	if !bears(r, g.opts.MetricsToken) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "authentication_error", "decant: metrics need the bearer token of the setting metrics_token")
		return
	}
	g.exporter.ServeHTTP(w, r)
}

// bears reports whether a request has a token, in constant time. Everybody has the empty one.
func bears(r *http.Request, token string) bool {
	got, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	want, have := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(got))
	return token == "" || subtle.ConstantTimeCompare(want[:], have[:]) == 1
}

// Operations returns what those who run the gateway need of it, for a listener of its own: /metrics, /healthz
// and /readyz. No key is asked for there.
func (g *Gateway) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", g.export)
	mux.HandleFunc("GET /readyz", g.ready)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") })
	return mux
}
