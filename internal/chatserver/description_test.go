package chatserver

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documented reads the description of the service once.
var documented = sync.OnceValues(func() (map[string]any, error) {
	text, err := yaml.YAMLToJSON(description)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return doc.(map[string]any), nil
})

var schemas sync.Map // by their place in the description

// schema returns what the description says at a place.
func schema(t testing.TB, at string) *jsonschema.Schema {
	t.Helper()
	if s, ok := schemas.Load(at); ok {
		return s.(*jsonschema.Schema)
	}
	doc, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://decant/openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://decant/openapi.json" + at)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	schemas.Store(at, s)
	return s
}

// heldAgainst holds a text in JSON against what the description says at a place.
func heldAgainst(t testing.TB, at string, text []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema(t, at).Validate(v)
	}
	if err != nil {
		t.Errorf("%s is not as described at %s: %v", text, at, err)
	}
}

// member returns what stands in a document at a path, behind references.
func member(doc map[string]any, at ...string) map[string]any {
	v := doc
	for _, name := range at {
		next, _ := v[name].(map[string]any)
		if ref, ok := next["$ref"].(string); ok {
			next = member(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		v = next
	}
	return v
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// described holds an answer against the description of the service.
func described(t testing.TB, method, path string, res *http.Response) {
	t.Helper()
	u, err := url.Parse(strings.TrimPrefix(path, "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode == http.StatusMisdirectedRequest || u.Path == "/openapi.yaml" {
		return
	}
	doc, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	for pattern := range member(doc, "paths") {
		exact := regexp.MustCompile("^" + placeholder.ReplaceAllString(strings.Replace(pattern, "{path}", ".+", 1), "[^/]+") + "$")
		if !exact.MatchString(u.EscapedPath()) || member(doc, "paths", pattern, strings.ToLower(method)) == nil {
			continue
		}
		holds(t, doc, method, pattern, res)
		return
	}
	t.Errorf("%s %s is not described", method, u.Path)
}

// holds holds an answer against the description of one operation. Every operation may fail as Error says.
func holds(t testing.TB, doc map[string]any, method, pattern string, res *http.Response) {
	t.Helper()
	if res.StatusCode >= 400 {
		heldAgainst(t, "#/components/schemas/Error", readAll(t, res))
		return
	}
	status := strconv.Itoa(res.StatusCode)
	answer := member(doc, "paths", pattern, strings.ToLower(method), "responses", status)
	if answer == nil {
		t.Errorf("%s %s: the status %s is not described", method, pattern, status)
		return
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if answer["content"] == nil {
		if data := readAll(t, res); len(data) > 0 {
			t.Errorf("%s %s: %s brings %q, it is described as empty", method, pattern, status, data)
		}
		return
	}
	if member(answer, "content", kind) == nil {
		t.Errorf("%s %s: %s brings %q, which is not described", method, pattern, status, kind)
	}
	if kind == "application/json" {
		escaped := strings.ReplaceAll(pattern, "/", "~1")
		at := "#/paths/" + url.PathEscape(escaped) + "/" + strings.ToLower(method) + "/responses/" + status + "/content/application~1json/schema"
		heldAgainst(t, at, readAll(t, res))
	}
}

// Every path of the service is described, and every described path is there.
func TestThePathsAreThoseOfTheDescription(t *testing.T) {
	doc, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for pattern, ops := range member(doc, "paths") {
		for method := range ops.(map[string]any) {
			if method != "parameters" {
				want[strings.ToUpper(method)+" "+pattern] = true
			}
		}
	}
	got := map[string]bool{}
	for _, pattern := range patterns() {
		got[pattern] = true
		if !want[pattern] {
			t.Errorf("%s is not described", pattern)
		}
	}
	for pattern := range want {
		if !got[pattern] {
			t.Errorf("%s is described and not there", pattern)
		}
	}
}

// patterns returns the patterns of all paths, without /v1.
func patterns() (out []string) {
	for pattern := range (&Server{}).paths() {
		out = append(out, strings.ReplaceAll(pattern, "...", ""))
	}
	return append(out, "GET /me", "POST /login", "POST /logout")
}
