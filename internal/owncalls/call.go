package owncalls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A call is an own call while it is made.
type call struct {
	c       *Caller
	cause   Cause
	begun   time.Time
	account *provider.Account
	request provider.Request // with its model
	model   token.Model
	entry   *entry
	held    *purse.Reservation
	answer  *provider.Answer // as far as it is known, with an error too
	spend   store.Spend
}

// admit finds out whether the call may be made, and holds back what it may cost.
func (x *call) admit(ctx context.Context, r *provider.Request) (err error) {
	if x.account, err = x.c.account(x.cause, r); err != nil {
		return err
	}
	x.request = *r
	if x.request.Model == "" {
		x.request.Model = x.account.Model
	}
	if x.account == x.c.opts.Account {
		if err := x.c.bar.refuses(x.request.Model, x.begun); err != nil {
			return err
		}
	}
	x.model, _ = x.c.opts.Catalog.Lookup(x.request.Model)
	x.model = x.model.For(r.Betas)
	most := x.most()
	enter := x.c.meter.enter
	if x.cause.Purpose == ForCache {
		enter = x.c.meter.spare
	}
	if x.entry, err = enter(x.cause.Conversation, most.Money); err != nil {
		return err
	}
	if err = x.afford(ctx); err == nil {
		err = x.hold(ctx, most)
	}
	if err != nil {
		x.c.meter.leave(x.entry, 0)
	}
	return err
}

// afford returns an error that wraps ErrResting where the ledger has so much already, by whichever process, that the call may
// exceed the cap of a day or of its conversation.
func (x *call) afford(ctx context.Context) error {
	ledger, ok := x.c.opts.Ledger.(interface {
		Spending(context.Context, store.SpendQuery) ([]store.Total, error)
	})
	if !ok {
		return nil
	}
	k, limits := x.cause.Conversation, x.c.meter.cap
	for _, l := range []struct {
		usd    float64
		of     store.Key
		since  time.Time
		period string
	}{{limits.Day, store.Key{Tenant: k.Tenant}, x.begun.Add(-day), "a day"}, {limits.Session, k, time.Time{}, "a session"}} {
		if l.usd < 0 || l.period == "a session" && k.ID == "" {
			continue
		}
		totals, err := ledger.Spending(ctx, store.SpendQuery{Tenant: l.of.Tenant, Conversation: l.of.ID, Since: l.since})
		if err != nil {
			return fmt.Errorf("read what own calls have cost: %w", err)
		}
		spent := x.c.meter.underway(l.of)
		for i := range totals {
			spent += totals[i].OwnCost
		}
		if spent.USD() > l.usd {
			return fmt.Errorf("%w of $%.2f in %s", ErrResting, l.usd, l.period)
		}
	}
	return nil
}

// hold holds back what the call may cost under the budgets that it falls under. It does not wait for other requests: what
// can do without a model goes on without one.
func (x *call) hold(ctx context.Context, most purse.Amount) error {
	o, k := &x.c.opts, x.cause.Conversation
	if o.Purse == nil {
		return nil
	}
	x.held = &purse.Reservation{Tenant: k.Tenant, Conversation: k.ID, Most: most, Budgets: o.Budgets}
	if o.Of != nil {
		own := o.Of(k.Tenant)
		x.held.Budgets, x.held.Own = slices.Concat(o.Budgets, own), len(own)
	}
	_, err := o.Purse.Hold(ctx, x.held)
	return err
}

// ask makes the call and books it.
func (x *call) ask(ctx context.Context) (err error) {
	limited, cancel := context.WithTimeout(ctx, x.c.opts.Timeout)
	defer cancel()
	defer func() { x.book(ctx, err) }()
	x.answer, err = x.account.Client.Ask(limited, &x.request)
	if x.account == x.c.opts.Account {
		x.c.bar.note(x.request.Model, err, x.c.opts.Now().Add(x.c.meter.cap.Rest))
	}
	return err
}

// most returns what the call may cost at most.
func (x *call) most() purse.Amount {
	u := x.mostUsage()
	return purse.Amount{Tokens: u.Context(), Money: x.price(u)}
}

// mostUsage returns what the call may use at most.
func (x *call) mostUsage() decant.Usage {
	r := &x.request
	u := decant.Usage{Input: x.prompt(), Output: r.MaxTokens}
	if r.Body != nil {
		u.Output = int(number(r.Body, "max_tokens"))
		if bytes.Contains(r.Body, []byte(`"cache_control"`)) {
			u.Input, u.CacheWrite = 0, u.Input
		}
	}
	if x.model.MaxOutput > 0 {
		u.Output = min(u.Output, x.model.MaxOutput)
	}
	return u
}

// prompt returns how many tokens the prompt has, at the most.
func (x *call) prompt() int {
	r, e := &x.request, token.For(x.model)
	if r.Body != nil {
		return min(len(r.Body)/bytesPerToken, x.model.Window)
	}
	return e.Count(r.System) + e.Count(r.Prompt) + framing
}

const (
	framing       = 64 // tokens around a prompt
	bytesPerToken = 3  // in a body, at the least
)

// number returns a whole number that a JSON object has under a name.
func number(src []byte, name string) (n int64) {
	for _, d := range jsonspan.Member(src, 0, name).Of(src) {
		if d < '0' || d > '9' || n > 1e9 {
			return 0
		}
		n = 10*n + int64(d-'0')
	}
	return n
}

// price returns what usage costs. As everywhere, what has no known price costs nothing.
func (x *call) price(u decant.Usage) store.Money {
	n, _ := cost.Billionths(x.model, u, cost.Terms{At: x.begun})
	return store.Money(n)
}

// tell says what has become of the call.
func (x *call) tell(err error) {
	made := Call{
		Cause: x.cause, Model: x.model.ID, Outcome: outcome(err), Usage: x.spend.Usage, Cost: x.spend.Cost,
		Took: x.c.opts.Now().Sub(x.begun),
	}
	level, args := slog.LevelInfo, []any{
		slog.String("purpose", string(x.cause.Purpose)), slog.String("conversation", x.cause.Conversation.ID),
		slog.String("model", made.Model), slog.Int("prompt_tokens", made.Usage.Prompt()), slog.Int("output_tokens", made.Usage.Output),
		slog.Float64("usd", made.Cost.USD()), slog.Duration("took", made.Took), slog.String("outcome", made.Outcome),
	}
	if err != nil {
		level, args = slog.LevelWarn, append(args, slog.Any("error", err))
	}
	if x.cause.Purpose == ForCache && (errors.Is(err, ErrNoCredential) || errors.Is(err, ErrResting)) {
		level = slog.LevelDebug // it is as it should be: with a client's credential nothing is kept warm for long
	}
	x.c.opts.Logger.Log(context.Background(), level, "own call", args...)
	x.c.opts.Made(made)
}

// outcome says in a word or two what an error comes to.
func outcome(err error) string {
	over := (*budget.Error)(nil)
	switch {
	case err == nil:
		return "answered"
	case errors.Is(err, ErrResting):
		return "resting"
	case errors.As(err, &over):
		return "budget"
	case errors.Is(err, ErrNoCredential):
		return "no credential"
	case errors.Is(err, provider.ErrRefused):
		return "refused"
	case errors.Is(err, provider.ErrBroken):
		return "unusable"
	}
	return "failed"
}
