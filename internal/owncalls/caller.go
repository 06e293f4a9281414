// Package owncalls makes Decant's own calls of models: for records, for memories, for the provider's cache. A Caller decides
// whether a call may be made and with whose credential, holds back what it may cost, makes it and books it. A Wallet
// remembers the credentials of clients for calls about their own conversations.
package owncalls

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Options configures a Caller. It needs a Ledger and an Account or Accounts.
type Options struct {
	// Account has the credential that was configured for own calls. Nil means that there is none.
	Account *provider.Account

	// Accounts returns the account of the client that holds a conversation, for calls about that conversation and no
	// other; nil when it is not known. Nil means that it never is.
	Accounts func(Cause) *provider.Account

	// Cap limits the calls of each tenant.
	Cap Cap

	// Purse and Budgets limit what is spent, own calls and others together: the engine's own. Of returns the further
	// budgets that hold for a tenant. Nil means that there are none.
	Purse   *purse.Purse
	Budgets []budget.Budget
	Of      func(tenant string) []budget.Budget

	// Ledger is where calls are booked.
	Ledger Ledger

	// Timeout is the longest that a call may take, its retries included. Zero means three minutes.
	Timeout time.Duration

	// Catalog knows the prices. Nil means the built-in one.
	Catalog *token.Catalog

	// Made is told of each call that was asked for, when it has ended. It has no content. Nil means that nobody is.
	Made func(Call)

	// Logger gets a line for each call. Nil means that nothing is logged.
	Logger *slog.Logger

	// Now returns the current time. Nil means time.Now.
	Now func() time.Time
}

// A Ledger is where own calls are booked; a store is one.
type Ledger interface {
	Book(ctx context.Context, k store.Key, spends []store.Spend) error
}

// A Caller makes own calls: it finds out with whose credential, holds back money for them, and books what they cost. It is
// safe for concurrent use.
type Caller struct {
	opts  Options
	meter *meter
	bar   bar
	ids   *store.IDs

	directory directory

	mu   sync.Mutex
	owed []debt // calls that could not be booked
}

var _ Asker = (*Caller)(nil)

// NewCaller returns a caller.
func NewCaller(o Options) (*Caller, error) {
	if o.Ledger == nil {
		return nil, errors.New("own calls: no ledger to book them in")
	}
	if o.Catalog == nil {
		var err error
		if o.Catalog, err = token.Builtin(); err != nil {
			return nil, err
		}
	}
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Made == nil {
		o.Made = func(Call) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(secret.Handler(o.Logger.Handler()))
	return &Caller{opts: o, meter: newMeter(o.Cap, o.Now), ids: store.NewIDs(o.Now, rand.Reader)}, nil
}

// Ask implements Asker. What an answer says of its usage is what was booked. Beside an error it says nothing else.
func (c *Caller) Ask(ctx context.Context, cause Cause, r *provider.Request) (*provider.Answer, error) {
	x := &call{c: c, cause: cause, begun: c.opts.Now()}
	err := x.admit(ctx, r)
	if err == nil {
		err = x.ask(ctx)
	}
	x.tell(err)
	a := x.answer
	if err != nil {
		err = fmt.Errorf("own call for %s: %w", cause.Purpose, err)
		if a != nil {
			a = &provider.Answer{Model: a.Model}
		}
	}
	if a != nil {
		a.Usage = x.spend.Usage
	}
	return a, err
}

// account returns the account that a request is made with. What goes on from a client's own request goes to the provider
// of that client, and with its credential if that is known: there alone the prompt is in the cache.
func (c *Caller) account(cause Cause, r *provider.Request) (*provider.Account, error) {
	own := func() *provider.Account {
		if c.opts.Accounts == nil {
			return nil
		}
		return c.opts.Accounts(cause)
	}
	conf := c.opts.Account
	if r.Body == nil && conf != nil {
		return conf, nil
	}
	if a := own(); a != nil {
		return a, nil
	}
	if conf != nil && (cause.Upstream == "" || conf.Shared && sameBase(cause.Upstream, conf.Upstream)) {
		return conf, nil
	}
	return nil, ErrNoCredential
}

// sameBase reports whether two base URLs name the same provider.
func sameBase(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}
