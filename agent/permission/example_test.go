package permission_test

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"log"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
)

// Nobody is there to be asked, so what no rule allows is denied.
func Example() {
	var rules permission.Rules
	for text, kind := range map[string]agent.VerdictKind{"bash(git diff:*)": agent.Allow, "read(**/.env)": agent.Deny} {
		r, err := permission.Parse(text)
		if err == nil {
			err = rules.Add(kind, r)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	g, err := permission.New(permission.Options{Rules: rules, Nobody: true})
	if err != nil {
		log.Fatal(err)
	}
	bash := &agent.Tool{Name: "bash", Ask: true}
	for _, line := range []string{`git diff HEAD~1`, `git diff && rm -rf .`} {
		c := &agent.Call{Tool: "bash", Arguments: stdjson.RawMessage(`{"command":"` + line + `"}`)}
		fmt.Println(line+":", g.Permit(context.Background(), bash, c).Kind)
	}
	fmt.Println("hidden from the tools of files:", g.Hidden())
	fmt.Println("allowed:", g.Rules().Allow)
	// Output:
	// git diff HEAD~1: allow
	// git diff && rm -rf .: deny
	// hidden from the tools of files: [**/.env]
	// allowed: [bash(git diff:*)]
}
