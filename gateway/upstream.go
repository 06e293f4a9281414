package gateway

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

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
	// Model: then the client has not chosen the server, and neither its query nor a header that may hold a credential
	// goes along.
	Key string
}

// meets reports whether a request meets the conditions but that for the model.
func (t *Route) meets(r *http.Request) bool {
	if t.Prefix != "" {
		if rest, ok := strings.CutPrefix(r.URL.Path, t.Prefix); !ok || rest != "" && rest[0] != '/' {
			return false
		}
	}
	return t.Header == "" || r.Header.Get(t.Header) != ""
}

// target returns where a request goes: by the first route that fits, or to the upstream of its API. An error says why
// it goes nowhere. A nil model means that it is not known yet.
func (g *Gateway) target(r *http.Request, api dialect.API, model func() (string, bool)) (*Route, error) {
	for i := range g.opts.Routes {
		t := &g.opts.Routes[i]
		switch {
		case !t.meets(r):
		case t.Model == "":
			return t, nil
		case model != nil:
			name, read := model()
			if !read { // it may be for this server alone
				return nil, errors.New(unread)
			}
			if match(t.Model, name) {
				return t, nil
			}
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

// modelDecides reports whether a row may be found for a request by its model, which is not known before its body is
// read.
func (g *Gateway) modelDecides(r *http.Request, door dialect.Door) bool {
	return (door.Kind == dialect.Prompt || door.Kind == dialect.Count) && r.ContentLength != 0 &&
		slices.ContainsFunc(g.opts.Routes, func(t Route) bool { return t.Model != "" && t.meets(r) })
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

// route points a request whose body was read to another server where a row says so. An error says why it goes nowhere.
func (g *Gateway) route(r *http.Request, model func() (string, bool)) (*http.Request, error) {
	v := of(r.Context())
	to, err := g.target(v.client, v.api, sync.OnceValues(model))
	if err != nil {
		v.astray = true
		return nil, err
	}
	if v.target != nil && to.URL == v.target.URL {
		return r, nil
	}
	out := r.Clone(r.Context())
	out.URL.Path, out.URL.RawPath = v.client.URL.Path, v.client.URL.RawPath
	v.target = to
	to.address(out, v.api)
	return out, nil
}

// credentials are the headers by which clients say who they are. In place of them the key of a row goes.
var credentials = []string{
	"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", openai.AccountHeader, "Openai-Organization", "Openai-Project",
}

// forEveryone reports whether a header says nothing that is for one server alone.
func forEveryone(name string) bool {
	switch name {
	case "User-Agent", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "Traceparent", "Tracestate":
		return true
	}
	return slices.ContainsFunc([]string{"Content-", "Accept", "X-Stainless-"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// address points a request to the server, with the credential that is for it.
func (t *Route) address(r *http.Request, api dialect.API) {
	u := r.URL
	u.Scheme, u.Host = t.URL.Scheme, t.URL.Host
	u.Path, u.RawPath = strings.TrimPrefix(u.Path, t.Prefix), strings.TrimPrefix(u.RawPath, t.Prefix)
	join(u, t.URL, api.About().Provider == token.OpenAI)
	switch {
	case t.Model != "":
		u.RawQuery, u.ForceQuery = "", false // it may hold a key, too
		maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return !forEveryone(name) })
	case t.Key != "":
		for _, name := range credentials {
			r.Header.Del(name)
		}
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
