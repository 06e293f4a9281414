package permission_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
)

// What one guard stores holds for the next one.
func TestRulesAreStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "rules.yaml")
	c := bash(t, "git tag -m 'a: b # c' x")
	g := guard(t, permission.Options{File: file})
	for range 2 {
		if err := g.Add(agent.Allow, g.For(asks("bash"), c)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Add(agent.Deny, rules(t, "deny read(**/.env)").Deny...); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*permission.Guard{g, guard(t, permission.Options{File: file})} {
		if v := g.Permit(context.Background(), asks("bash"), c); v.Kind != agent.Allow {
			t.Errorf("%s after it was allowed", v.Kind)
		}
		if r := g.Rules(); len(r.Allow) != 1 || len(r.Deny) != 1 {
			t.Errorf("rules: %+v", r)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A file that people wrote keeps their comments; one that is not a list of rules is left as it is.
func TestAppendKeepsWhatIsThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	read := func() string { b, _ := os.ReadFile(file); return string(b) }
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# mine\n- allow: read # all\n-   deny: \"bash(rm:*)\"")
	g := guard(t, permission.Options{File: file})
	if err := g.Add(agent.Ask, rules(t, "ask fetch").Ask...); err != nil {
		t.Fatal(err)
	}
	if want := "# mine\n- allow: read # all\n-   deny: \"bash(rm:*)\"\n- ask: fetch\n"; read() != want {
		t.Errorf("the file is %q, want %q", read(), want)
	}
	for bad, want := range map[string]string{
		"allow: [read]\n": "rules.yaml", "- allow: read\n  deny: read\n": "entry 1: it must have one key", "- allow: nope(x)\n": "entry 1", "- maybe: read\n": "allows, asks or denies",
		"[]\n": "list of lines", "- [": "rules.yaml", "- allow: read\n- {}\n": "entry 2",
	} {
		write(bad)
		err := g.Add(agent.Allow, rules(t, "allow fetch").Allow...)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) || read() != bad {
			t.Errorf("%q: %v, want %q; the file is %q", bad, err, want, read())
		}
	}
	write("- allow: nope(x)\n")
	if _, err := permission.New(permission.Options{Dir: t.TempDir(), File: file}); err == nil || !strings.Contains(err.Error(), "takes no parentheses") {
		t.Errorf("a guard of a bad file: %v", err)
	}
}

// Several guards may store at the same time, as several processes do: no rule is lost and none is torn.
func TestAppendSideBySide(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	var wg sync.WaitGroup
	const guards, each = 8, 10
	for i := range guards {
		g := guard(t, permission.Options{File: file})
		wg.Go(func() {
			for j := range each {
				if err := g.Add(agent.Allow, rules(t, fmt.Sprintf("allow bash(run %d %d)", i, j)).Allow...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if r := guard(t, permission.Options{File: file}).Rules(); len(r.Allow) != guards*each {
		t.Errorf("%d rules, want %d", len(r.Allow), guards*each)
	}
}
