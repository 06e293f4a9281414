package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/token"
)

// What the API says about its models is what the catalogue has, for those that both know.
func TestModelsOfTheSandbox(t *testing.T) {
	c := client(t, sandbox.New(sandbox.Options{}), anthropic.Options{})
	all, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		m, ok := catalog.Lookup(f.ID)
		if w := m.With(f); !ok || f.Editing == token.Unsaid || f.Threshold == token.Unsaid || f.OnDemand == token.Unsaid || w.Editing != m.Editing || w.Threshold != m.Threshold || w.OnDemand != m.OnDemand {
			t.Errorf("%s: %+v", f.ID, f)
		}
	}
	if len(all) < 10 {
		t.Errorf("%d models", len(all))
	}
}

// Pages are read to the end, what is not said stays unsaid, and what is no list is an error.
func TestModelsInPages(t *testing.T) {
	for name, tt := range map[string]struct {
		page func(n int) string
		want string
	}{
		"two": {func(n int) string {
			if n == 1 {
				return `{"data":[{"id":"claude-opus-9","max_input_tokens":3000000,"max_tokens":500000,"capabilities":{"context_management":{"supported":true,"compact_20260112":{"supported":true},"clear_tool_uses_20250919":{"supported":false}}}}],"has_more":true,"last_id":"claude-opus-9"}`
			}
			return `{"data":[{"id":"claude-x","later":1}],"has_more":false,"last_id":"claude-x"}`
		}, "[{claude-opus-9 3000000 500000 1 2 0} {claude-x 0 0 0 0 0}] <nil>"},
		"the same for ever": {func(int) string { return `{"data":[{"id":"x"}],"has_more":true,"last_id":"x"}` }, "[{x 0 0 0 0 0} {x 0 0 0 0 0}] <nil>"},
		"no end":            {func(n int) string { return fmt.Sprintf(`{"data":[],"has_more":true,"last_id":"%d"}`, n) }, "[] list the models: the list does not end"},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			c := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n++; r.Header.Get("Anthropic-Beta") != "compact-2026-09-04" || n == 2 && r.URL.Query().Get("after_id") == "" {
					t.Errorf("asked for %s with betas %q", r.URL, r.Header.Get("Anthropic-Beta"))
				}
				fmt.Fprint(w, tt.page(n))
			}), anthropic.Options{})
			all, err := c.Models(t.Context())
			if got := fmt.Sprint(all, err); got != tt.want {
				t.Errorf("%s", got)
			}
		})
	}
	c := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `[]`) }), anthropic.Options{})
	if all, err := c.Models(t.Context()); err == nil {
		t.Errorf("no list gives %v", all)
	}
}
