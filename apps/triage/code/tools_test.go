package code

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
)

func TestTools(t *testing.T) {
	t.Parallel()
	c, good, bad := shop(t)
	r := reader(t, c, nil)
	set := Tools{Reader: r, Seen: &Seen{}, Versions: []Version{version(t, r, "v1.1.0")}, Window: Window{Good: "v1.0.0"}}
	for _, tool := range set.Tools() {
		if !tool.ReadOnly || !tool.Parallel || len(tool.Schema) == 0 {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	tests := []struct{ tool, args, want, err string }{
		{"read_file", `{"path":"shop/price.py","from":5}`, "    6:\t    return order.customer.rate\n", ""},
		{"read_file", `{"path":"shop/price.py","repo":"acme/shop"}`, "lines 1 to 6 of 6", ""},
		{"read_file", `{"path":"shop/price.py","repo":"acme/other"}`, "", "there is no \"acme/other\""},
		{"read_file", `{"file":"x"}`, "", "path"},
		{"search_code", `{"pattern":"customer"}`, "shop/price.py\n    6:", ""},
		{"list_directory", `{}`, "docs/ (1 files)", ""},
		{"recent_changes", `{"paths":["shop/price.py"]}`, bad[:12] + " 2026-", ""},
		{"show_change", `{"sha":"` + bad[:8] + `"}`, "    6-\t    return order.customer.rate if", ""},
		{"who_owns", `{"path":"shop/price.py","line":6}`, "@acme/prices", ""},
	}
	for _, tt := range tests {
		text, err := use(t, &set, tt.tool, tt.args)
		if err != nil {
			text = err.Error()
		}
		if failed := err != nil; failed != (tt.err != "") || !strings.Contains(text, tt.want+tt.err) {
			t.Errorf("%s %s: %v\n%s", tt.tool, tt.args, err, text)
		}
	}
	if _, ok := set.Seen.Suspect("acme/shop", bad); !ok {
		t.Error("show_change does not make a suspect")
	}
	if _, ok := set.Seen.Suspect("acme/shop", good); ok {
		t.Error("a commit is a suspect that was not shown")
	}
	if s := r.Stats(); s.Hits == 0 || s.Misses == 0 {
		t.Errorf("the tools do not use the cache: %+v", s)
	}
}

// use makes a call of one of the tools.
func use(t *testing.T, set *Tools, name, args string) (string, error) {
	t.Helper()
	for _, tool := range set.Tools() {
		if tool.Name == name {
			got, err := tool.Run(t.Context(), &agent.Call{Tool: name, Arguments: []byte(args)})
			return got.Text, err
		}
	}
	t.Fatalf("there is no tool %s", name)
	return "", nil
}
