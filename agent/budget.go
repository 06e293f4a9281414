package agent

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/provider"
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
	used purse.Amount // and held back
}

// NewAllowance returns an allowance of a budget.
func NewAllowance(b Budget) *Allowance { return &Allowance{budget: b} }

// share returns how much of the budget an amount is.
func (b Budget) share(a purse.Amount) float64 {
	return a.Of(&budget.Budget{Tokens: b.Tokens, USD: b.USD})
}

// take takes more, or less where it is negative, unless the budget has no room for it.
func (a *Allowance) take(more purse.Amount) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.used.Plus(more)
	if (more.Tokens > 0 || more.Money > 0) && a.budget.share(next) > 1 {
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

	sized         // the newest prompt
	off   float64 // how many times what was estimated has been counted, at the worst

	spent  Spent
	paid   purse.Amount // spent, as an amount
	final  purse.Amount // held back for the final answer
	call   purse.Amount // held back for the call that is under way
	warned bool
}

// A sized is the size of a prompt in tokens: by our estimate, and as the provider has counted it.
type sized struct{ estimated, counted int }

// meter returns the meter of a run that begins, or goes on. What one that goes on had held back for its final answer is held back again. The
// session is locked.
func (s *Session) meter() meter {
	o, spent := &s.agent.opts, s.state.spent
	m := meter{budget: o.Budget, shared: o.Allowance, model: s.agent.model, now: o.Now, spent: spent,
		paid: purse.Amount{Tokens: spent.Tokens(), Money: spent.Money}}
	m.counts(s.state.sized)
	for halved := 0; spent.Turns > 0 && m.estimated > 0 && halved < scales; halved++ {
		if final := m.worst(m.estimated+s.agent.wrapUpTokens(), s.agent.finalTokens(halved)); o.Allowance.take(final) {
			m.final = final
			break
		}
	}
	return m
}

// worst returns the most that a call may cost.
func (m *meter) worst(prompt, answer int) purse.Amount {
	return m.amount(m.most(prompt), answer)
}

// amount returns what a call costs whose prompt has n tokens.
func (m *meter) amount(n, answer int) purse.Amount {
	u := decant.Usage{CacheWrite: n, Write1h: n, Output: answer}
	return purse.Amount{Tokens: u.Context(), Money: m.price(u, false)}
}

// What an estimate of text may lack: with text that is far from what the estimate was made for, more than a third. Where the provider has
// counted more than that in a run, later text may lack as much, and somewhat more.
const (
	uncounted = 1.6
	further   = 1.2
	twice     = 1.25 // of the same text, in the second of two prompts that hold it
)

// most returns the most tokens that a prompt may have which was estimated. What the newest request had is known; only what came
// since then is in doubt, and all of it if there was a pour.
func (m *meter) most(prompt int) int {
	doubt := max(uncounted, further*m.off)
	if known := min(m.estimated, m.counted); known > 0 && prompt >= known {
		return m.counted + int(doubt*float64(prompt-known)) + 100
	}
	return int(doubt*float64(prompt)) + 100
}

// counts takes what the provider has counted for the newest prompt.
func (m *meter) counts(s sized) {
	m.sized = s
	if s.estimated > 0 {
		m.off = max(m.off, float64(s.counted)/float64(s.estimated))
	}
}

// price returns what usage costs, 0 where that is not known.
func (m *meter) price(u decant.Usage, batch bool) store.Money {
	sum, ok := cost.Billionths(m.model, u, cost.Terms{At: m.now(), Batch: batch && m.model.Batch > 0})
	if !ok {
		return 0
	}
	return store.Money(sum)
}

// A need is what a call to the model may take, and a final answer after it to the same prompt with more tokens at its end: what the call
// leads to can be left out.
type need struct{ prompt, answer, final, more int }

// amounts returns what the call and the final answer may cost.
func (m *meter) amounts(n need) (call, final purse.Amount) {
	call, final = m.worst(n.prompt, n.answer), m.worst(n.prompt+n.more, n.final)
	if m.counted == 0 { // what the call is counted as is known before the final answer, for which less has to suffice then
		final = m.amount(int(twice*float64(n.prompt+n.more))+100, n.final)
	}
	return call, final
}

// hold holds back what a call needs, in place of what is held back now. It returns false, and holds nothing new, where there is no room for it.
func (m *meter) hold(n need) bool {
	call, final := m.amounts(n)
	if m.budget.share(m.paid.Plus(call).Plus(final)) > 1 || !m.shared.take(call.Plus(final).Minus(m.call).Minus(m.final)) {
		return false
	}
	m.call, m.final = call, final
	return true
}

// short returns the error that what is left has no room for an amount.
func (m *meter) short(what string, a purse.Amount) error {
	switch b := m.budget; {
	case b.Tokens > 0 && m.paid.Tokens+a.Tokens > b.Tokens:
		return fmt.Errorf("%w: %s may take %d tokens, and %d of %d are left", ErrBudget, what, a.Tokens, max(0, b.Tokens-m.paid.Tokens), b.Tokens)
	case b.USD > 0 && m.paid.Money.USD()+a.Money.USD() > b.USD:
		return fmt.Errorf("%w: %s may take $%.4f, and $%.4f of $%.4f are left", ErrBudget, what, a.Money.USD(), max(0, b.USD-m.paid.Money.USD()), b.USD)
	}
	return fmt.Errorf("%w: %s may take %d tokens, and less is left of what several runs may use together", ErrBudget, what, a.Tokens)
}

// holdFinal holds back what a final answer may cost, and nothing else.
func (m *meter) holdFinal(prompt, answer int) bool {
	final := m.worst(prompt, answer)
	if m.budget.share(m.paid.Plus(final)) > 1 || !m.shared.take(final.Minus(m.final)) {
		return false
	}
	m.final = final
	return true
}

// begin makes what is held back for the final answer the call that is under way.
func (m *meter) begin() { m.call, m.final = m.final, purse.Amount{} }

// book takes what a call has used in place of what was held back for it, and returns it. Its prompt was estimated at so many tokens.
func (m *meter) book(a *provider.Answer, estimated int) Spent {
	u := a.Usage
	m.counts(sized{estimated, u.Prompt()})
	used := purse.Amount{Tokens: u.Context(), Money: m.price(u, a.Batch)}
	one := Spent{Turns: 1, Usage: u, Money: used.Money}
	m.spent = m.spent.plus(one)
	m.paid = m.paid.Plus(used)
	m.shared.settle(m.call, used)
	m.call = purse.Amount{}
	return one
}

// pass takes what a summary has used behind which the model has paused in the midst of a call. What was held back for the call is
// given back: what follows needs room of its own.
func (m *meter) pass(a *provider.Answer) Spent {
	u := a.Usage
	used := purse.Amount{Tokens: u.Context(), Money: m.price(u, a.Batch)}
	one := Spent{Usage: u, Money: used.Money}
	m.spent = m.spent.plus(one)
	m.paid = m.paid.Plus(used)
	m.shared.settle(m.call, used)
	m.call = purse.Amount{}
	return one
}

// settle takes what was used in place of what was held back.
func (a *Allowance) settle(held, used purse.Amount) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = a.used.Minus(held).Plus(used)
}

// end gives back what is held.
func (m *meter) end() {
	m.shared.settle(m.call.Plus(m.final), purse.Amount{})
	m.call, m.final = purse.Amount{}, purse.Amount{}
}

// warning returns once what to say when 80 % of the budget is used, or when there is room for nothing but the final answer.
func (m *meter) warning(last bool) string {
	share := m.budget.share(m.paid)
	if m.warned || share < 0.8 && !last {
		return ""
	}
	m.warned = true
	tokens, money := fmt.Sprint(m.paid.Tokens), fmt.Sprintf("$%.4f", m.paid.Money.USD())
	if most := m.budget.Tokens; most > 0 {
		tokens = fmt.Sprintf("%s of %d", tokens, most)
	}
	if most := m.budget.USD; most > 0 {
		money = fmt.Sprintf("%s of $%.4f", money, most)
	}
	text := fmt.Sprintf("%s tokens and %s are used after %d turns", tokens, money, m.spent.Turns)
	if last {
		text += "; there is room for the final answer only"
	}
	return text
}
