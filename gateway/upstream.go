package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/openai"
	"github.com/decantdev/decant/token"
)

// A Route sends requests to a server of its own. Those that meet all of its conditions go there; an empty
// condition is met by every request.
type Route struct {
	URL    *url.URL // base URL, as a client of the API has it
	Prefix string   // of the path, whole segments; it does not go along
	Header string   // name of a header that the request has
	Model  string   // of whom an answer is asked, a pattern as in Rule

	// Key goes along in place of the client's credential. Where it is empty the client's goes, unless the route has a
	// Model: then the client has not chosen the server, and its credential is for another one.
	Key string
}

// fits reports whether a request meets the conditions. A nil model means that it is not known yet.
func (t *Route) fits(r *http.Request, model func() string) bool {
	if t.Prefix != "" {
		if rest, ok := strings.CutPrefix(r.URL.Path, t.Prefix); !ok || rest != "" && rest[0] != '/' {
			return false
		}
	}
	return (t.Header == "" || r.Header.Get(t.Header) != "") && (t.Model == "" || model != nil && match(t.Model, model()))
}

// target returns where a request goes: by the first route that fits, or to the upstream of its API. An error says why
// it goes nowhere.
func (g *Gateway) target(r *http.Request, api dialect.API, model func() string) (*Route, error) {
	for i := range g.opts.Routes {
		if t := &g.opts.Routes[i]; t.fits(r, model) {
			return t, nil
		}
	}
	switch {
	case api.About().Provider != token.OpenAI:
		return &Route{URL: g.opts.Upstream}, nil
	case g.opts.OpenAI == nil:
		return nil, errors.New(nowhere)
	case r.Header.Get(openai.AccountHeader) != "":
		return nil, errors.New(noAccount)
	case hasAnthropicKey(r.Header):
		return nil, errors.New(foreignKey)
	}
	return &Route{URL: g.opts.OpenAI}, nil
}

// hasAnthropicKey reports whether a key of Anthropic's stands in one of the headers that carry keys.
func hasAnthropicKey(h http.Header) bool {
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key"} {
		if slices.ContainsFunc(h.Values(name), func(v string) bool { return strings.Contains(v, "sk-ant-") }) {
			return true
		}
	}
	return false
}

// route points a request whose model is known to another server where a route says so.
func (g *Gateway) route(r *http.Request, model func() string) *http.Request {
	v := of(r.Context())
	to, err := g.target(v.client, v.api, model)
	if err != nil || to.URL == v.target.URL {
		return r // there is no error here: without a model the request has found a way, too
	}
	out := r.Clone(r.Context())
	out.URL.Path, out.URL.RawPath = v.client.URL.Path, v.client.URL.RawPath
	v.target = to
	to.address(out, v.api)
	return out
}

// credentials are the headers by which clients say who they are.
var credentials = []string{
	"Authorization", "X-Api-Key", "Api-Key", "Cookie", openai.AccountHeader, "Openai-Organization", "Openai-Project",
}

// address points a request to the server, with the credential that is for it.
func (t *Route) address(r *http.Request, api dialect.API) {
	u := r.URL
	u.Scheme, u.Host = t.URL.Scheme, t.URL.Host
	u.Path, u.RawPath = strings.TrimPrefix(u.Path, t.Prefix), strings.TrimPrefix(u.RawPath, t.Prefix)
	join(u, t.URL, api.About().Provider == token.OpenAI)
	if t.Key == "" && t.Model == "" {
		return
	}
	for _, name := range credentials {
		r.Header.Del(name)
	}
	switch {
	case t.Key == "":
	case api.About().Provider == token.OpenAI:
		r.Header.Set("Authorization", "Bearer "+t.Key)
	default:
		r.Header.Set("X-Api-Key", t.Key)
	}
}

// version is how the paths of the APIs begin.
const version = "/v1"

// join puts the path of base before the path of u. If base has none, the path stays exactly as written. Some write the
// version of the API into a base URL where it stands in the path already: it is there once. In base URLs of OpenAI's
// APIs the version stands, or what a server has in its place, so that none comes from the path.
func join(u, base *url.URL, versioned bool) {
	path, raw := u.Path, u.EscapedPath()
	if strings.HasPrefix(path, version+version) && strings.HasPrefix(raw, version+version) {
		path, raw = path[len(version):], raw[len(version):]
	}
	before, beforeRaw := strings.TrimSuffix(base.Path, "/"), strings.TrimSuffix(base.EscapedPath(), "/")
	switch {
	case !strings.HasPrefix(path, version+"/"):
		if versioned && strings.HasPrefix(path, before+"/") { // a client with the server's own base URL, but for the host
			before, beforeRaw = "", ""
		}
	case versioned && before != "":
		path, raw = path[len(version):], raw[len(version):]
	default:
		before, beforeRaw = strings.TrimSuffix(before, version), strings.TrimSuffix(beforeRaw, version)
	}
	if path, raw = before+path, beforeRaw+raw; path != u.Path {
		u.Path, u.RawPath = path, raw
	}
}
