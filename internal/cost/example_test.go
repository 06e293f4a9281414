package cost_test

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// Clearing 10,000 tokens out of old history, with 40,000 behind them, pays after 46 requests.
func ExampleChange_Price() {
	models, err := token.Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := models.Lookup("claude-opus-4-6")
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	p, _ := cost.Change{Prompt: 100_000, Freed: 10_000, Behind: 40_000}.Price(m, at)
	fmt.Printf("now $%.2f, then $%.3f less per request: even after %d requests\n", p.CostUSD, p.SaveUSD, p.BreakEven)
	// Output: now $0.23, then $0.005 less per request: even after 46 requests
}

// A price that is not known makes the sum unknown.
func ExampleOf() {
	models, err := token.Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	usage := decant.Usage{Input: 1000, CacheRead: 90_000, Output: 2000}
	at := cost.Terms{At: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	for _, id := range []string{"claude-opus-5-5", "a-model-of-your-own"} {
		m, _ := models.Lookup(id)
		usd, known := cost.Of(m, usage, at).Total()
		fmt.Printf("%s: $%.3f, known %v\n", id, usd, known)
	}
	// Output:
	// claude-opus-5-5: $0.062, known true
	// a-model-of-your-own: $0.000, known false
}
