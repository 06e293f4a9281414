package chatserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
)

type passKey struct{}

// withPass returns a context of what is done under a pass.
func withPass(ctx context.Context, p *keyring.Pass) context.Context {
	return context.WithValue(ctx, passKey{}, p)
}

// passOf returns the pass under which something is done.
func passOf(ctx context.Context) *keyring.Pass {
	if p, ok := ctx.Value(passKey{}).(*keyring.Pass); ok {
		return p
	}
	return &keyring.Pass{}
}

// limits are what users and sessions may spend.
type limits struct{ opts *Options }

// passFor returns the pass of what goes on for a tenant when nobody has sent a key: the limits of all of its keys hold.
func (l *limits) passFor(tenant string) *keyring.Pass {
	return &keyring.Pass{Tenant: tenant, Limits: store.Limits{Budgets: l.opts.Keys.Allowances(tenant)}}
}

// budgets returns the budgets that a request to a model falls under besides the engine's.
func (l *limits) budgets(ctx context.Context) (out []budget.Budget) {
	for _, a := range passOf(ctx).Limits.Budgets {
		out = append(out, budget.Budget(a))
	}
	if l.opts.SessionUSD > 0 {
		out = append(out, l.sessionBudget())
	}
	return out
}

// sessionBudget returns the budget of each session.
func (l *limits) sessionBudget() budget.Budget {
	return budget.Budget{Per: "conversation", USD: l.opts.SessionUSD}
}

// A spending is what a session had used when one of its runs began.
type spending struct {
	session *agent.Session
	before  decant.Usage
}

type spendingKey struct{}

// metered returns hooks that count what runs use for the limits per minute of the key that has asked for it.
func metered() agent.Hooks {
	return agent.Hooks{
		BeforeRun: func(ctx context.Context, s *agent.Session) context.Context {
			return context.WithValue(ctx, spendingKey{}, spending{s, s.Spent().Usage})
		},
		AfterRun: func(ctx context.Context, _ agent.Outcome, _ error) {
			if sp, ok := ctx.Value(spendingKey{}).(spending); ok {
				passOf(ctx).Used(counted(sp.session.Spent().Usage) - counted(sp.before))
			}
		},
	}
}

// counted returns the tokens that count: as with the provider's own limits, those read from the provider's cache do not.
func counted(u decant.Usage) int { return u.Input + u.CacheWrite + u.Output }

// refused answers a request that a limit has refused, and reports whether that is what has happened.
func (l *limits) refused(w http.ResponseWriter, err error) bool {
	if rate, ok := errors.AsType[*keyring.RateError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(rate.Seconds()))
		write(w, http.StatusTooManyRequests, errorBody("rate_limit", rate.Error()))
		return true
	}
	over, ok := errors.AsType[*budget.Error](err)
	if !ok {
		return false
	}
	text := over.Error()
	if over.Own && over.Budget == l.sessionBudget() {
		text = fmt.Sprintf("a session may cost $%.4f, and this one could come to $%.4f with this request; begin another one, or raise --max-budget-usd", over.Budget.USD, over.USD)
	}
	write(w, http.StatusPaymentRequired, errorBody("budget", text))
	return true
}
