package budget

import "fmt"

// A Budget limits what may be spent. Where it sets tokens and dollars, both hold. A model whose price is
// not known costs no dollars.
type Budget struct {
	Per    string  // "conversation", "tenant" (all time), or "month" or "day" (of a tenant, UTC)
	Tokens int     // of prompts and answers; 0: no limit
	USD    float64 // 0: no limit
}

// An Error says that a request would exceed a budget.
type Error struct {
	Budget Budget
	Tokens int     // spent and reserved, the request included
	USD    float64 // the same in dollars
	Own    bool    // the budget came with the request
}

// Error names the budget, what it would come to, and how to raise it.
func (e *Error) Error() string {
	used, limit, field := usd(e.USD), usd(e.Budget.USD), "usd"
	if e.Budget.Tokens > 0 && e.Tokens > e.Budget.Tokens {
		used, limit, field = fmt.Sprintf("%d tokens", e.Tokens), fmt.Sprintf("%d tokens", e.Budget.Tokens), "tokens"
	}
	raise := fmt.Sprintf("raise %s under budgets in the settings", field)
	if e.Own {
		raise = "use a key with a larger one"
	}
	return fmt.Sprintf("the %s's budget of %s could come to %s with this request; %s%s", e.Budget.Per, limit, used, raise, e.Budget.relief())
}

// relief says what helps besides raising the budget.
func (b *Budget) relief() string {
	switch b.Per {
	case "day":
		return ", or wait until 00:00 UTC"
	case "month":
		return ", or wait until the first of the next month, UTC"
	case "conversation":
		return ", or begin another conversation"
	}
	return ""
}

// usd writes dollars, small amounts in more detail.
func usd(v float64) string {
	if v < 1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// A Warning says that most of a budget is spent.
type Warning struct {
	Budget       Budget
	Tenant       string
	Conversation string  // id, where the budget is per conversation and it is stored
	Share        float64 // that is spent, with what is held back for requests under way
}
