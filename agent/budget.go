package agent

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// ErrBudget means that a budget has no room for even one answer.
var ErrBudget = errors.New("the budget has no room for an answer")

// A Budget limits what may be used. Zero fields do not limit.
type Budget struct {
	Tokens int     // of prompts and answers, read from the provider's cache or not
	USD    float64 // a model whose price is not known costs nothing
}

// An Allowance is what several runs may use together. What a call to the model may cost at most is held back before it is made, so
// that runs side by side cannot overrun it. It is safe for concurrent use.
type Allowance struct {
	budget Budget

	mu   sync.Mutex
	used amount // and held back
}

// NewAllowance returns an allowance of a budget.
func NewAllowance(b Budget) *Allowance { return &Allowance{budget: b} }

// An amount is what something costs.
type amount struct {
	tokens int
	money  store.Money
}

func (a amount) plus(b amount) amount  { return amount{a.tokens + b.tokens, a.money + b.money} }
func (a amount) minus(b amount) amount { return amount{a.tokens - b.tokens, a.money - b.money} }

// within reports whether a budget has room for an amount.
func (a amount) within(b Budget) bool {
	return (b.Tokens == 0 || a.tokens <= b.Tokens) && (b.USD == 0 || a.money <= dollars(b.USD))
}

// dollars returns an amount of money.
func dollars(usd float64) store.Money { return store.Money(math.Round(usd * 1e9)) }

// share returns how much of a budget an amount is.
func (a amount) share(b Budget) (out float64) {
	if b.Tokens > 0 {
		out = float64(a.tokens) / float64(b.Tokens)
	}
	if b.USD > 0 {
		out = max(out, float64(a.money)/float64(dollars(b.USD)))
	}
	return out
}

// take takes more, or less where it is negative, unless the budget has no room for it.
func (a *Allowance) take(more amount) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.used.plus(more)
	if (more.tokens > 0 || more.money > 0) && !next.within(a.budget) {
		return false
	}
	a.used = next
	return true
}

// A meter is what one run has used and holds back.
type meter struct {
	budget Budget
	shared *Allowance
	model  token.Model
	now    func() time.Time

	estimated, counted int // tokens of the newest prompt: by our estimate, and as the provider has counted them

	spent  Spent
	paid   amount // spent, as an amount
	final  amount // held back for the final answer
	call   amount // held back for the call that is under way
	warned bool
}

// worst returns the most that a call may cost.
func (m *meter) worst(prompt, answer int) amount {
	n := m.most(prompt)
	u := decant.Usage{CacheWrite: n, Write1h: n, Output: answer}
	return amount{u.Context(), m.price(u)}
}

// uncounted is what an estimate of text may lack that the provider has not counted yet: more than a third where the text is far from
// what the estimate was made for.
const uncounted = 1.6

// most returns the most tokens that a prompt may have which was estimated. What the newest request had is known; only what came
// since then is in doubt, and all of it if there was a pour.
func (m *meter) most(prompt int) int {
	doubt := uncounted
	if m.estimated > 0 {
		doubt = max(doubt, 1.2*float64(m.counted)/float64(m.estimated))
	}
	if prompt < m.estimated {
		return int(doubt*float64(prompt)) + 100
	}
	return m.counted + int(doubt*float64(prompt-m.estimated)) + 100
}

// price returns what usage costs, 0 where that is not known.
func (m *meter) price(u decant.Usage) store.Money {
	sum, ok := cost.Billionths(m.model, u, cost.Terms{At: m.now()})
	if !ok {
		return 0
	}
	return store.Money(sum)
}

// hold holds back what a call may cost, and after it a final answer to what it leads to: to its calls, with results that say no more than
// that they are left out, and so are no longer than the calls. It returns false, and holds nothing new, where there is no room
// for both.
func (m *meter) hold(prompt, answer, wrapUp int) bool {
	call, final := m.worst(prompt, answer), m.worst(prompt+2*answer+wrapUp, answer)
	more := call.plus(final).minus(m.final)
	if !m.paid.plus(call).plus(final).within(m.budget) || !m.shared.take(more) {
		return false
	}
	m.call, m.final = call, final
	return true
}

// holdFinal holds back what a final answer may cost, and nothing else.
func (m *meter) holdFinal(prompt, answer int) bool {
	final := m.worst(prompt, answer)
	if !m.paid.plus(final).within(m.budget) || !m.shared.take(final.minus(m.final)) {
		return false
	}
	m.final = final
	return true
}

// begin makes what is held back for the final answer the call that is under way.
func (m *meter) begin() { m.call, m.final = m.final, amount{} }

// book takes what a call has used in place of what was held back for it. Its prompt was estimated at so many tokens.
func (m *meter) book(u decant.Usage, estimated int) {
	m.estimated, m.counted = estimated, u.Prompt()
	used := amount{u.Context(), m.price(u)}
	m.spent.Turns++
	m.spent.Usage = m.spent.Usage.Add(u)
	m.spent.Money += used.money
	m.paid = m.paid.plus(used)
	m.shared.settle(m.call, used)
	m.call = amount{}
}

// settle takes what was used in place of what was held back.
func (a *Allowance) settle(held, used amount) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = a.used.minus(held).plus(used)
}

// end gives back what is held.
func (m *meter) end() {
	m.shared.settle(m.call.plus(m.final), amount{})
	m.call, m.final = amount{}, amount{}
}

// warning returns once what to say when 80 % of the budget is used, or when there is room for nothing but the final answer.
func (m *meter) warning(last bool) string {
	share := m.paid.share(m.budget)
	if m.warned || share < 0.8 && !last {
		return ""
	}
	m.warned = true
	text := fmt.Sprintf("%d tokens and $%.4f are used after %d turns", m.paid.tokens, m.paid.money.USD(), m.spent.Turns)
	if m.budget != (Budget{}) {
		text = fmt.Sprintf("%.0f %% of the budget is used: ", 100*share) + text
	}
	if last {
		text += "; there is room for the final answer only"
	}
	return text
}
