package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Options configures an Engine. The zero value is ready to use.
type Options struct {
	// Catalog knows the models. Nil means the built-in one.
	Catalog *token.Catalog

	// Preset is the policy for requests that name none. Nil means the preset "default".
	Preset *preset.Preset

	// Mode is what the engine does with requests that do not say. Empty means Manage.
	Mode Mode

	// Window replaces the window of every model, in tokens. Zero leaves the catalogue's.
	Window int

	// MaxBytes is the largest body that may be sent. Zero means 32 MB, the API's own limit.
	MaxBytes int

	// Adds is what may be added to requests.
	Adds Adds

	// Budgets limit what is spent. A request that would exceed one is refused with a *budget.Error;
	// when one is spent to 95 %, pours come earlier. The store must know what was spent.
	Budgets []budget.Budget

	// NoEarlyPours forbids pours before the window demands one. Without it they are made when they
	// pay, see policy.Due.
	NoEarlyPours bool

	// Timeouts are how long the engine's own work on a request may take.
	Timeouts Timeouts

	// Models are who is asked besides the model that answers.
	Models Models

	// ArchiveDelay is how long the archive of an answer may wait while requests keep coming. What was not
	// written when the process dies comes back with the client's next request. Zero means one second;
	// negative means that nothing waits.
	ArchiveDelay time.Duration

	// Memory bounds what is kept in memory.
	Memory Memory

	// Logger gets what did not become the answer to a request. Level Error is for what failed, such as an archive;
	// Warn for what those who run the engine should know and what is no fault of its own: a budget that is nearly
	// spent, an upstream whose reports cannot be true. No line has content of a conversation or a key. Nil means
	// that nothing is logged.
	Logger *slog.Logger

	// OnBooked is called with what answered requests and records have cost, once each, when that has been stored. It may
	// be nil.
	OnBooked func(tenant string, spends []store.Spend)

	// Watcher is told of pours and of budgets that are nearly spent. Nil means that nobody is.
	Watcher Watcher

	// Now returns the current time. Nil means time.Now.
	Now func() time.Time
}

// Adds is what may be added to requests that need no other change. The zero value adds nothing.
type Adds struct {
	// DropBlock permits asking the provider to drop thinking that no longer fits, for models that bind it. It adds a field
	// and a beta to the request.
	DropBlock bool

	// Markers permits adding cache markers for clients that set none behind their messages, as long as that pays, see
	// cost.Marking. The client's own markers stay, and nothing else changes.
	Markers bool
}

// Models are what an engine asks of others, most of it of models. The zero value asks nothing.
type Models struct {
	// Asker has providers write summaries themselves, where their models do and the preset does not say otherwise: a pour
	// that the window demands asks for one first, while the client waits. What comes of it stands first in the view from
	// then on, and no client sees it. It must ask for the organization that the conversation is
	// held in: others cannot send the summary back. Nil means that no provider is asked.
	Asker owncalls.Asker

	// Warmer makes the calls that keep warm what conversations that rest have left in the provider's cache: one shortly before it
	// expires, answered with nothing or one token, as long as cost.KeepWarm says that it pays. They go on from what a client has
	// sent, with the credential of its organization. It is another field than Asker because it is another question whether
	// they are wanted. Nil means that nothing is kept warm.
	Warmer owncalls.Asker

	// Summarizer writes the records of pours that the window demands, segment by segment: ahead of a pour, behind the
	// answers to requests that come near to it (preset.Summary.Ahead), and else while the client waits, within
	// Timeouts.Required. It is never asked twice at once for one conversation. If it fails, is too late or loses too much,
	// the extractive record is used. Nothing is asked for previews, counts and requests that are only observed. What it costs
	// is booked as the engine's own, under the model "summarizer", and counts for budgets. Nil means that all records are
	// extractive.
	Summarizer provider.Summarizer

	// Facts returns what the provider at a base URL says itself about a model, which counts more than the catalogue, and false where
	// that is not known. It must be quick: each request asks it. Nil means that nothing is known.
	Facts func(upstream, model string) (token.Facts, bool)

	// Purse holds what requests may cost against budgets. Who makes own calls gives the engine the purse that holds
	// these, so that together they cannot overrun a budget. Nil means one of the engine's own.
	Purse *purse.Purse

	// Flusher saves what is worth remembering of conversations whose preset asks for it, before it leaves the view. Nil
	// means that nothing is saved.
	Flusher Flusher

	// Recall returns what a model is told of earlier conversations of a tenant about a project, as the counter counts it
	// within its own bound; empty: nothing. It is asked when a conversation begins whose project is known, and what it returns
	// stays a part of that conversation. It must be quick. Nil means that nothing is recalled.
	Recall func(ctx context.Context, tenant, project string, c decant.Counter) (string, error)
}

// Timeouts are how long work on a request may take.
type Timeouts struct {
	Optional time.Duration // that the request can do without; zero means one second
	Required time.Duration // that it cannot do without; zero means twenty seconds
}

// Memory bounds what an engine keeps in memory.
type Memory struct {
	// Conversations and Entries are how many conversations, and blocks of them, stay in memory. What decisions say
	// counts as blocks of 256 bytes. Zero means 1,000 and 200,000: about 50 MB.
	Conversations, Entries int

	// Backlog is how many bytes answers may take, with their requests, that wait for a store which is slow or fails.
	// Beyond it answers are not archived, and Logger is told so once: what they brought comes back with the clients'
	// next requests. Zero means 256 MB.
	Backlog int
}

func (o *Options) setDefaults() (err error) {
	if o.Catalog == nil {
		if o.Catalog, err = token.Builtin(); err != nil {
			return err
		}
	}
	if o.Preset == nil {
		if o.Preset, err = preset.Load("default"); err != nil {
			return err
		}
	}
	if o.Mode == "" {
		o.Mode = Manage
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(secret.Handler(o.Logger.Handler()))
	if o.OnBooked == nil {
		o.OnBooked = func(string, []store.Spend) {}
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&o.MaxBytes, 32 << 20}, {&o.Memory.Backlog, 256 << 20}, {&o.Memory.Conversations, 1000}, {&o.Memory.Entries, 200_000}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.Timeouts.Optional == 0 {
		o.Timeouts.Optional = time.Second
	}
	if o.Timeouts.Required == 0 {
		o.Timeouts.Required = 20 * time.Second
	}
	if o.ArchiveDelay == 0 {
		o.ArchiveDelay = time.Second
	}
	return nil
}
