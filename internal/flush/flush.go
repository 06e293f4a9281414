package flush

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// Store is where memory is kept.
type Store interface {
	store.Claims
	store.Memories
}

// Options configures a Flusher. It needs a Store.
type Options struct {
	Store  Store
	Asker  owncalls.Asker   // nil: no model is asked
	Told   func(Flushed)    // called after each flush; may be nil
	Logger *slog.Logger     // of flushes, without content; nil: none
	Now    func() time.Time // nil: time.Now
}

// Flushed is the outcome of a flush, without content.
type Flushed struct {
	Conversation store.Key
	Cycle        int
	By           string // "model", or "facts"
	Saved        int    // items
	Why          error  // why no model was asked, or what it said is not used
}

// A Flusher is what engine.Models.Flusher asks. It is safe for concurrent use.
type Flusher struct{ opts Options }

// New returns a flusher.
func New(o Options) *Flusher {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Told == nil {
		o.Told = func(Flushed) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Flusher{o}
}

// Flush saves what is worth remembering of a conversation, once in a cycle.
func (f *Flusher) Flush(ctx context.Context, o *Request) error {
	first, err := f.opts.Store.Claim(ctx, o.Conversation, fmt.Sprintf("flush %d", o.Cycle), f.opts.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil // its archive is still under way; the next request is an occasion, too
	}
	if err != nil || !first {
		return err
	}
	done := Flushed{Conversation: o.Conversation, Cycle: o.Cycle, By: "model"}
	drafts, why := f.ask(ctx, o)
	if why != nil {
		done.By, done.Why = "facts", why
		drafts = FromFacts(fact.Extract(ctx, o.View.Messages))
	}
	done.Saved, err = f.save(ctx, o, drafts)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the conversation was forgotten meanwhile
	}
	if err != nil {
		return fmt.Errorf("save what a flush has brought: %w", err)
	}
	f.tell(done)
	return nil
}

// tell reports the outcome of a flush.
func (f *Flusher) tell(d Flushed) {
	args := []any{"conversation", d.Conversation.ID, "cycle", d.Cycle, "by", d.By, "saved", d.Saved}
	if d.Why != nil && !errors.Is(d.Why, errNobody) {
		args = append(args, "why", fmt.Sprintf("%.200s", d.Why))
	}
	f.opts.Logger.Info("memory flush", args...)
	f.opts.Told(d)
}

// Why a model's answer is not used.
var (
	errNobody = errors.New("there is no model to ask")
	errNoRoom = errors.New("the window has no room for another turn")
	errSilent = errors.New("the model has neither saved anything nor said that nothing needs saving")
)

// ask has the conversation's model say what to save.
func (f *Flusher) ask(ctx context.Context, o *Request) ([]Draft, error) {
	d, ok := o.Dialect.(dialect.Continuer)
	switch {
	case f.opts.Asker == nil || !ok:
		return nil, errNobody
	case !o.Room:
		return nil, errNoRoom
	}
	form := formOf(o)
	body, err := d.Continue(o.Sent, o.Answer, form.prompt)
	if err != nil {
		return nil, err
	}
	cause := owncalls.Cause{Conversation: o.Conversation, Upstream: o.Upstream, Purpose: owncalls.ForMemory}
	a, err := f.opts.Asker.Ask(ctx, cause, &provider.Request{Model: o.Model.ID, Body: body, Betas: o.Betas})
	if err != nil {
		return nil, err
	}
	drafts, silent := form.read(a)
	if len(drafts) == 0 && !silent {
		return nil, errSilent
	}
	return drafts, nil
}

// save adds drafts to the memory of the conversation's project, or to its own where no project is known.
func (f *Flusher) save(ctx context.Context, o *Request, drafts []Draft) (int, error) {
	scope := memory.Scope{Level: memory.Project, Name: o.Project}
	if o.Project == "" {
		scope = memory.Scope{Level: memory.Conversation, Name: o.Conversation.ID}
	}
	origin := Origin{
		Scope: scope, Time: f.opts.Now().UTC(),
		Source: memory.Source{Conversation: o.Conversation.ID, From: first(o), To: last(o)},
		ID:     func() (string, error) { return memory.NewID(rand.Reader) },
	}
	items, err := origin.Items(drafts)
	if err != nil || len(items) == 0 {
		return 0, err
	}
	return len(items), f.opts.Store.Revise(ctx, o.Conversation.Tenant, scope, memory.Save(items...))
}

// first returns the number of the first message that the model has seen.
func first(o *Request) int {
	for i := range o.View.Messages {
		if n := o.View.Messages[i].Number; n > 0 {
			return n
		}
	}
	return 0
}

// last returns the number of the last one.
func last(o *Request) int {
	for i := len(o.View.Messages) - 1; i >= 0; i-- {
		if n := o.View.Messages[i].Number; n > 0 {
			return n
		}
	}
	return 0
}
