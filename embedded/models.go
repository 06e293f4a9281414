package embedded

import (
	"log/slog"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/store"
)

// withModels returns the engine's options with whom the account has it ask, where they name nobody else. What is worth
// remembering is saved without an account, too, for presets that want it.
func (o *Options) withModels(s store.Store) (engine.Options, error) {
	e := o.Engine
	if o.Account != nil {
		if err := o.ask(&e, s); err != nil {
			return e, err
		}
	}
	f := flush.New(flush.Options{Store: s, Asker: e.Models.Asker, Logger: e.Logger, Now: e.Now})
	if e.Models.Flusher == nil {
		e.Models.Flusher = f
	}
	if o.Recall && e.Models.Recall == nil {
		e.Models.Recall = f.Recall
	}
	return e, nil
}

// ask has an engine ask the account.
func (o *Options) ask(e *engine.Options, s store.Store) error {
	if e.Models.Purse == nil {
		now, log := e.Now, e.Logger
		if now == nil {
			now = time.Now
		}
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		e.Models.Purse = purse.New(s, now, log)
	}
	caller, err := owncalls.NewCaller(owncalls.Options{
		Account: o.Account, Purse: e.Models.Purse, Budgets: e.Budgets, Of: o.Budgets, Ledger: s, Catalog: e.Catalog, Logger: e.Logger, Now: e.Now,
	})
	if err != nil {
		return err
	}
	if e.Models.Asker == nil {
		e.Models.Asker = caller
	}
	if e.Models.Facts == nil {
		e.Models.Facts = caller.Told
	}
	if e.Models.Summarizer != nil {
		return nil
	}
	e.Models.Summarizer, err = summarize.New(summarize.Options{Asker: caller, Default: o.Account.Model, Catalog: e.Catalog, Logger: e.Logger, Now: e.Now})
	return err
}
