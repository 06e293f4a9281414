package setup

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// OwnCalls is how a service asks models on its own account. Nil is one that asks none.
type OwnCalls struct {
	settings *config.Summary
	warms    bool              // keeps caches warm
	account  *provider.Account // nil: none is configured
	wallet   *owncalls.Wallet  // nil: clients' credentials are not used
	calls    *gateway.Calls
	board    *notice.Board
	allowed  func(tenant string) []store.Allowance // by its keys
	catalog  *token.Catalog
	log      *slog.Logger
}

// NewOwnCalls returns what settings ask for; nil when they ask for no model. Calls go out over one way, and wait as a
// preset says before they are tried again.
func NewOwnCalls(c *config.Config, over http.RoundTripper, p *preset.Preset, log *slog.Logger) (*OwnCalls, error) {
	if !c.Summary.Enabled() && !c.KeepWarm {
		return nil, nil
	}
	o := &OwnCalls{settings: &c.Summary, warms: c.KeepWarm, log: log}
	var err error
	if o.catalog, err = token.Builtin(); err != nil {
		return nil, err
	}
	backoff := provider.Backoff(p.Summary.Retry)
	if o.account, err = configured(&c.Summary, over, backoff, o.catalog); err != nil {
		return nil, exit.Usage(err)
	}
	if c.Summary.Client {
		o.wallet = owncalls.NewWallet(func(base string, who provider.Credential) (provider.Client, error) {
			return anthropic.New(anthropic.Options{Base: base, Credential: who, Transport: over, Backoff: backoff, Catalog: o.catalog})
		})
	}
	return o, nil
}

// configured returns the account of the settings, nil when they have none.
func configured(s *config.Summary, over http.RoundTripper, backoff provider.Backoff, catalog *token.Catalog) (a *provider.Account, err error) {
	if !s.Configured() {
		return nil, nil
	}
	a = &provider.Account{Upstream: s.Destination(), Model: s.Model, Shared: s.Shared}
	switch s.Provider {
	case "openai":
		who := provider.Credential{}
		if s.Key != "" {
			who = provider.Bearer(s.Key.Reveal())
		}
		a.Client, err = openai.New(openai.Options{Base: a.Upstream, Credential: who, Transport: over, Backoff: backoff, Catalog: catalog})
	default:
		a.Model = cmp.Or(a.Model, summarize.Cheapest(catalog, time.Now())(token.Model{Provider: token.Anthropic}, ""))
		a.Client, err = anthropic.New(anthropic.Options{
			Base: a.Upstream, Credential: provider.Key("x-api-key", s.Key.Reveal()), Transport: over, Backoff: backoff, Catalog: catalog,
		})
	}
	return a, err
}

// CheckSummary finds out whether the configured model can be asked, and returns its name.
func CheckSummary(ctx context.Context, c *config.Config, over http.RoundTripper) (string, error) {
	catalog, err := token.Builtin()
	if err != nil {
		return c.Summary.Model, err
	}
	a, err := configured(&c.Summary, over, provider.Backoff{}, catalog)
	if a == nil || err != nil {
		return c.Summary.Model, err
	}
	check, ok := a.Client.(provider.Checker)
	if !ok {
		return a.Model, nil
	}
	return a.Model, check.Check(ctx, a.Model)
}

// Register registers the metrics of own calls. The board is told of flushes, and allowed returns what the keys of a tenant may spend.
func (o *OwnCalls) Register(reg prometheus.Registerer, money *gateway.Money, board *notice.Board, allowed func(tenant string) []store.Allowance) (err error) {
	if o == nil {
		return nil
	}
	o.board, o.allowed = board, allowed
	o.calls, err = gateway.NewCalls(reg, money)
	return err
}

// Into gives an engine on a store whom to ask, and holds what that may cost in the engine's purse.
func (o *OwnCalls) Into(e *engine.Options, db engine.Store) error {
	if o == nil {
		return nil
	}
	e.Models.Purse = purse.New(db, time.Now, o.log)
	caller, err := owncalls.NewCaller(o.options(e, db))
	if err != nil {
		return err
	}
	if o.warms {
		e.Models.Warmer = caller
	}
	if !o.settings.Enabled() {
		return nil
	}
	s, err := summarize.New(summarize.Options{Asker: caller, Model: o.model(), Catalog: o.catalog, Logger: o.log})
	if err != nil {
		return err
	}
	e.Models.Asker, e.Models.Summarizer, e.Models.Facts = caller, s, caller.Told
	return nil
}

// AddOwnCalls is into for a command that has settings and no service: it asks a configured model only.
func AddOwnCalls(c *config.Config, e *engine.Options, db engine.Store) error {
	if !c.Summary.Configured() {
		return nil
	}
	out, err := Outbound(c)
	if err != nil {
		return err
	}
	own, err := NewOwnCalls(c, out, e.Preset, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	own.warms = false // it is for those who come back
	return own.Into(e, db)
}

// options returns the options of a caller.
func (o *OwnCalls) options(e *engine.Options, db engine.Store) owncalls.Options {
	l := o.settings.Limits
	out := owncalls.Options{
		Account: o.account, Cap: owncalls.Cap{Calls: l.Calls, Session: l.Session, Hour: l.Hour, Day: l.Day},
		Purse: e.Models.Purse, Budgets: e.Budgets, Ledger: db, Catalog: o.catalog, Logger: o.log,
	}
	if o.calls != nil {
		out.Made = o.calls.Made
	}
	if o.allowed != nil {
		out.Of = func(tenant string) (bs []budget.Budget) {
			for _, a := range o.allowed(tenant) {
				bs = append(bs, budget.Budget(a))
			}
			return bs
		}
	}
	if o.wallet != nil {
		out.Accounts = o.wallet.Account
	}
	return out
}

// model returns the choice of the model that writes records: the one of the settings, or what the preset says, or a cheap
// one of the provider that is asked.
func (o *OwnCalls) model() func(token.Model, string) string {
	if o.settings.Model != "" {
		return summarize.Always(o.settings.Model)
	}
	cheapest := summarize.Cheapest(o.catalog, time.Now())
	if o.account == nil {
		return cheapest
	}
	return func(_ token.Model, named string) string {
		return cheapest(token.Model{Provider: token.Anthropic}, named)
	}
}

// Accepted returns who is told of clients' requests, for gateway.Options: nobody, unless their credentials are used.
func (o *OwnCalls) Accepted() func(k store.Key, upstream string, h http.Header) {
	if o == nil || o.wallet == nil {
		return nil
	}
	return o.wallet.Keep
}

// Close forgets what is known of clients.
func (o *OwnCalls) Close() {
	if o != nil && o.wallet != nil {
		o.wallet.Empty()
	}
}

// Attrs say for the log what is asked.
func (o *OwnCalls) Attrs() []any {
	if o == nil {
		return nil
	}
	model := cmp.Or(o.settings.Model, "the cheapest of the client's provider")
	if o.account != nil {
		model = o.account.Model
	}
	if !o.settings.Enabled() {
		model = "none"
	}
	return []any{"summary_model", model, "client_credential", o.wallet != nil, "keep_warm", o.warms}
}
