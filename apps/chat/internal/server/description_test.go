package chatserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
)

// documented reads the description of the service once.
var documented = sync.OnceValues(func() (doc map[string]any, err error) {
	text, err := yaml.YAMLToJSON(description)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	return doc, err
})

var schemas sync.Map // by their place in the description

// schema returns what the description says at a place.
func schema(t testing.TB, at ...string) *jsonschema.Resolved {
	t.Helper()
	key := strings.Join(at, " ")
	if s, ok := schemas.Load(key); ok {
		return s.(*jsonschema.Resolved)
	}
	doc, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	root := maps.Clone(member(doc, at...))
	root["$defs"] = member(doc, "components", "schemas")
	text, err := json.Marshal(asSchema(root))
	if err != nil {
		t.Fatal(err)
	}
	var read jsonschema.Schema
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	s, err := read.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	schemas.Store(key, s)
	return s
}

// asSchema returns a part of the description as a JSON schema that stands alone: references lead to its own $defs, and
// times have a pattern, since validators ignore formats.
func asSchema(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = asSchema(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, m := range v {
			out[name] = asSchema(m)
		}
		if ref, ok := v["$ref"].(string); ok {
			out["$ref"] = strings.Replace(ref, "#/components/schemas/", "#/$defs/", 1)
		}
		if v["format"] == "date-time" {
			out["pattern"] = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`
		}
		return out
	}
	return v
}

// heldAgainst holds a text in JSON against what the description says at a place.
func heldAgainst(t testing.TB, text []byte, at ...string) {
	t.Helper()
	var v any
	err := json.Unmarshal(text, &v)
	if err == nil {
		err = schema(t, at...).Validate(v)
	}
	if err != nil {
		t.Errorf("%s is not as described at %s: %v", text, strings.Join(at, " "), err)
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
		heldAgainst(t, readAll(t, res), "components", "schemas", "Error")
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
		heldAgainst(t, readAll(t, res), "paths", pattern, strings.ToLower(method), "responses", status, "content", kind, "schema")
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
	for pattern := range (&Server{rooms: &rooms{}}).paths() {
		out = append(out, strings.ReplaceAll(pattern, "...", ""))
	}
	return append(out, "GET /me", "POST /login", "POST /logout")
}
