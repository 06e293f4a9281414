package token_test

import (
	"fmt"

	"github.com/decantdev/decant/token"
)

func Example() {
	models, err := token.Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"us.anthropic.claude-sonnet-4-5-20250929", "gpt-5", "somebody-elses-model"} {
		m, known := models.Lookup(id)
		e := token.For(m)
		fmt.Println(m.ID, m.Window, known, e.Exact(), e.Count("Keep what matters, pour the rest."))
	}
	// Output:
	// claude-sonnet-4-5 200000 true false 9
	// gpt-5 400000 true true 8
	// somebody-elses-model 200000 false false 9
}
