package token_test

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
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

// The price of a request: what the provider reported, at the prices of its day.
func ExampleModel_PriceAt() {
	models, err := token.Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := models.Lookup("claude-opus-4-6")
	p, _, known := m.PriceAt(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	fmt.Printf("per million tokens: input $%.2f, cache read $%.2f, output $%.2f, known %t\n", p.Input.USD,
		p.CacheRead.USD, p.Output.USD, known)
	used := decant.Usage{CacheRead: 90_000, Input: 2_000, Output: 1_000}
	usd := float64(used.CacheRead)*p.CacheRead.USD + float64(used.Input)*p.Input.USD + float64(used.Output)*p.Output.USD
	fmt.Printf("this request: $%.3f\n", usd/1e6)
	// Output:
	// per million tokens: input $5.00, cache read $0.50, output $25.00, known true
	// this request: $0.080
}
