package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
)

// show shows the metrics to clients that may see them. They are sums over all tenants, so a tenant's key is not
// enough.
func (g *Gateway) show(w http.ResponseWriter, r *http.Request) {
	if g.opts.MetricsToken == "" && g.opts.Keys != nil && g.opts.Keys.Closed() {
		refuse(w, index.Default, http.StatusForbidden, dialect.Forbidden,
			"decant: metrics are sums of all tenants, and no tenant's key shows them; set metrics_token for a bearer token, or metrics_listen for a listener of their own")
		return
	}
	g.export(w, r)
}

// export writes the metrics. If there is a token, the client must send it.
func (g *Gateway) export(w http.ResponseWriter, r *http.Request) {
	if !bears(r, g.opts.MetricsToken) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, index.Default, http.StatusUnauthorized, dialect.Unauthenticated,
			"decant: metrics need the bearer token of the setting metrics_token")
		return
	}
	g.exporter.ServeHTTP(w, r)
}

// bears reports, in constant time, whether a request has a token. Every request has the empty one.
func bears(r *http.Request, token string) bool {
	got, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	want, have := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(got))
	return token == "" || subtle.ConstantTimeCompare(want[:], have[:]) == 1
}

// Operations returns a handler for operators, for a separate listener: /metrics, /healthz and /readyz. It asks for no
// key.
func (g *Gateway) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", g.export)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !g.service.Health(w, r) {
			http.NotFound(w, r)
		}
	})
	return mux
}
