package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/outbox"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
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

	// DropBlock permits asking the provider to drop thinking that no longer fits, for models that
	// bind it. It adds a field and a beta to the request.
	DropBlock bool

	// Budgets limit what is spent. A request that would exceed one is refused with a *budget.Error;
	// when one is spent to 95 %, pours come earlier. The store must know what was spent.
	Budgets []budget.Budget

	// NoEarlyPours forbids pours before the window demands one. Without it they are made when they
	// pay, see policy.Due.
	NoEarlyPours bool

	// OptionalTimeout and RequiredTimeout are how long work may take that a request can do without, and work
	// that it cannot. Zero means one second and twenty.
	OptionalTimeout, RequiredTimeout time.Duration

	// ArchiveDelay is how long the archive of an answer may wait while requests keep coming. What was not
	// written when the process dies comes back with the client's next request. Zero means one second;
	// negative means that nothing waits.
	ArchiveDelay time.Duration

	// Backlog is how many bytes answers may take in memory, with their requests, that wait for a store which is
	// slow or fails. Beyond it answers are not archived, and Logger is told so once: what they brought
	// comes back with the clients' next requests. Zero means 256 MB.
	Backlog int

	// Conversations and Entries are how many conversations, and blocks of them, stay in memory. What decisions say
	// counts as blocks of 256 bytes. Zero means 1,000 and 200,000: about 50 MB.
	Conversations, Entries int

	// Logger gets what did not become the answer to a request. Level Error is for what failed, such as an archive;
	// Warn for what those who run the engine should know and what is no fault of its own: a budget that is nearly
	// spent, an upstream whose reports cannot be true. No line has content of a conversation or a key. Nil means
	// that nothing is logged.
	Logger *slog.Logger

	// Booked is told what answered requests have cost when that has been stored, each once. Nil means that
	// nobody is.
	Booked func(tenant string, spends []store.Spend)

	// Now returns the current time, Rand gives random bytes for ids. Nil means time.Now and
	// crypto/rand.
	Now  func() time.Time
	Rand io.Reader
}

// Mode is how much of its work an engine does.
type Mode string

// The modes.
const (
	Manage  Mode = "manage"  // decide and send views
	Observe Mode = "observe" // record and plan, change nothing
	Off     Mode = "off"     // neither
)

// Store is what an engine needs of a store.
type Store interface {
	store.Matcher
	store.Loader
	store.Committer
	store.Blobs
	store.Log
	store.Findings
}

// An Engine prepares the requests of many conversations. All that it knows is in its store; what it
// keeps in memory is checked against it on every request, so that several engines may share one
// store. It is safe for concurrent use.
type Engine struct {
	store Store
	opts  Options
	ids   *store.IDs
	env   draft.Env
	seed  maphash.Seed // of fingerprints

	finder  lineage.Finder
	sizes   draft.Estimators
	outbox  *outbox.Box[finished]
	recent  prompt.Recent
	purse   *budget.Purse
	busy    busy
	flights lineage.Flights

	accounts account.Book
	work     sync.WaitGroup // archives under way

	unbelieved sync.Once // told of an upstream whose reports cannot be true
}

// New returns an engine on a store.
func New(s Store, o Options) (*Engine, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{
		store: s, opts: o, ids: store.NewIDs(o.Now, o.Rand), seed: maphash.MakeSeed(),
		purse: budget.NewPurse(s, o.Now, o.Logger),
	}
	e.env = draft.Env{IDs: e.ids, Now: o.Now, Model: e.model, DropBlock: o.DropBlock, NoEarlyPours: o.NoEarlyPours, OptionalTimeout: o.OptionalTimeout, RequiredTimeout: o.RequiredTimeout}
	e.outbox = outbox.New[finished](o.Backlog, o.ArchiveDelay, e.tellBacklog)
	e.finder = lineage.Finder{
		Store: s, Cache: lineage.NewCache(o.Conversations, o.Entries),
		Notes:    func(ctx context.Context, s *store.State) any { return notes.New(notes.Recall(ctx, e.store, s)) },
		UnderWay: func(s *store.State, first int) bool { return e.flights.Hold(s, first, o.Now()) },
	}
	e.accounts = account.Book{Store: s, Now: o.Now, Background: e.background, Patience: o.OptionalTimeout, Logger: o.Logger}
	return e, nil
}

// background does necessary work that nobody waits for but Close.
func (e *Engine) background(do func(context.Context)) {
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), e.opts.RequiredTimeout)
		defer cancel()
		do(ctx)
	})
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
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(secret.Handler(o.Logger.Handler()))
	if o.Booked == nil {
		o.Booked = func(string, []store.Spend) {}
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&o.MaxBytes, 32 << 20}, {&o.Backlog, 256 << 20}, {&o.Conversations, 1000}, {&o.Entries, 200_000}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.OptionalTimeout == 0 {
		o.OptionalTimeout = time.Second
	}
	if o.RequiredTimeout == 0 {
		o.RequiredTimeout = 20 * time.Second
	}
	if o.ArchiveDelay == 0 {
		o.ArchiveDelay = time.Second
	}
	return nil
}

// Close waits for what is still being archived.
func (e *Engine) Close() error {
	e.outbox.Flush()
	e.work.Wait()
	return nil
}

// A Request is one request of a client to the Messages API.
type Request struct {
	Tenant  string   // whose it is; empty for a store that serves one user
	Session string   // the client's own id of the conversation, empty when it has none
	Project string   // what it is about, when the client says
	Body    []byte   // as the client sent it; it must not change afterwards
	Betas   []string // that it asks for by headers (docs/reference/anthropic.md, "Betas")

	// Upstream is the base URL of the provider that it goes to: what was found out about an account there
	// is remembered for it.
	Upstream string

	// SessionIn returns the id of the conversation that the metadata of the body names, for clients
	// that name it there. It is asked when Session is empty. Nil: it is not looked for.
	SessionIn func(metadata []byte) string

	// Budgets limit what may have been spent when this request comes, besides the engine's own.
	Budgets []budget.Budget

	Preset *preset.Preset // nil: the engine's
	Mode   Mode           // empty: the engine's
	Count  bool           // only the size is asked for: nothing is committed
}

// ErrUnavailable means that neither the view nor the client's own bytes can be sent: what was
// decided before cannot be read, and without it the request would be refused.
var ErrUnavailable = errors.New("the conversation's decisions cannot be read")

// Prepare returns what to send in place of a request.
//
// It finds the conversation, replays what was decided about it, decides about what is new, and if
// the window demands it pours; what it decides is committed before it returns. If nothing needs to
// change, Prepared.Body is req.Body itself.
//
// When a step of its own fails it falls back: to the committed decisions alone, then to the
// client's own bytes. Prepared.Fault says what failed. Only when even that cannot be right it
// returns an error, which wraps ErrUnavailable. A request that exceeds a budget is a *budget.Error, one
// that cannot be read where a budget applies an *UnmeteredError.
func (e *Engine) Prepare(ctx context.Context, req *Request) (*Prepared, error) {
	if e.mode(req) == Off {
		return &Prepared{Body: req.Body}, nil
	}
	e.outbox.Enter()
	defer e.outbox.Leave()
	key := prompt.KeyOf(req.Tenant, req.Session, req.Body, e.seed)
	was := e.recent.Find(key, req.Body)
	r, err := prompt.Read(req.Body, e.seed, was)
	if err != nil {
		return e.unread(req, err)
	}
	req = req.named(r)
	who := startOf(req, r)
	p, err := e.prepare(ctx, req, who, r, draft.Demand{})
	if err != nil {
		p, err = e.fallBack(req, who, r, err)
	}
	if p != nil {
		p.req, p.who, p.r = req, who, r
	}
	if !req.Count {
		e.recent.Put(key, r.Remember(), was)
	}
	if err == nil {
		if err = e.reserve(ctx, p); err != nil {
			e.Finish(p, Response{}) // it never leaves
			return nil, err
		}
	}
	e.leaves(p)
	return p, err
}

// leaves notes that a prepared request is on its way.
func (e *Engine) leaves(p *Prepared) {
	if p != nil && p.ticket != nil && !p.req.Count {
		p.flight = e.flights.Enter(p.ticket.dr.Query.Match, p.ticket.committed, e.opts.Now())
	}
}

// named returns the request with the session that its metadata names.
func (req *Request) named(r *prompt.Prompt) *Request {
	at := r.Doc.Member("metadata")
	if req.Session != "" || req.SessionIn == nil || at.IsZero() {
		return req
	}
	out := *req
	out.Session = req.SessionIn(at.Of(req.Body))
	return &out
}

func startOf(req *Request, r *prompt.Prompt) lineage.Start {
	s := lineage.Start{Tenant: req.Tenant, Session: req.Session}
	if len(r.Spine) > 0 {
		s.First = r.Hash(0)
	}
	return s
}

// maxTries is how often a request is looked at anew after others have committed first.
const maxTries = 8

// caught turns a panic into an error. Where it happened is for those who run the engine, not for its
// clients.
func (e *Engine) caught(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
		e.opts.Logger.Error("panic", "error", *err, "stack", string(debug.Stack()))
	}
}

// try is the way of a request: match, replay, decide, render, commit. It is rendered before it is committed, so that
// nothing is decided for good that cannot be written. A conversation that has moved on meanwhile is store.ErrConflict.
func (e *Engine) try(ctx context.Context, req *Request, who lineage.Start, r *prompt.Prompt, force draft.Demand) (*Prepared, error) {
	a, err := e.observe(ctx, req, who, r)
	if err != nil {
		return nil, err
	}
	a.dr.Force(force)
	if e.mode(req) == Observe {
		return (&observer{e, a.ticket()}).try(ctx)
	}
	behind, fault := a.decide(ctx)
	if behind {
		return nil, errBehind
	}
	body, err := a.dr.Render()
	if err != nil {
		return nil, err
	}
	tk := a.ticket()
	tk.sight = sightOf(tk.dr)
	c := &committer{e, tk}
	if err := c.commit(ctx); err != nil {
		return nil, err
	}
	if err := c.announce(ctx); err != nil { // others will think that it was given up; the answer finds its place all the same
		e.note(err)
	}
	p := tk.prepared(body)
	p.Fault = fault
	e.noticePoor(p, tk.dr.Query.Preset)
	return p, nil
}

// errBehind means that the conversation must be looked at anew before it is poured: an earlier request has been archived
// since, or was about to be.
var errBehind = fmt.Errorf("an earlier request was being archived: %w", store.ErrConflict)

// noticePoor tells those who run the engine of a record that says too little. A poor record is better than none,
// but nobody should take it for a good one.
func (e *Engine) noticePoor(p *Prepared, pre *preset.Preset) {
	if cp := p.Report.Poor(); cp != nil && !p.ticket.dr.Query.Request.Count {
		e.opts.Logger.Warn("a record says too little of what user and model named", "conversation", p.Conversation, "checkpoint", cp.Number,
			"from", cp.From, "to", cp.To, "score", cp.Score, "min_score", pre.Summary.MinScore)
	}
}

func (e *Engine) mode(req *Request) Mode {
	if req.Mode != "" {
		return req.Mode
	}
	return e.opts.Mode
}

// A Prepared is a request that is ready to be sent.
type Prepared struct {
	Body         []byte   // to send in place of the request's body
	Betas        []string // that Body needs beyond those that the client asks for
	Conversation string   // id of the conversation, empty when it is not known
	Report       Report
	Fault        error // what of Decant's own failed, nil when nothing did

	req      *Request // with who and r, what it was made from; nil: it could not be read
	who      lineage.Start
	r        *prompt.Prompt
	ticket   *ticket             // nil: nothing is known about the conversation
	flight   *lineage.Flight     // nil: it holds nothing that is stored
	held     *budget.Reservation // what the request may cost at most, nil: no budget applies
	recovers int                 // how often it was made anew after a refusal
}

// Footprint returns about how many bytes a prepared request takes in memory until it is finished, besides its
// bodies: as it was read, and as it is sent.
func (p *Prepared) Footprint() int64 {
	if p.r == nil {
		return 0
	}
	return 2 * int64(prompt.Footprint(nil, len(p.r.Blocks)))
}

// Poor returns the checkpoint that is new and says less than its preset asks of a record, nil when there is
// none.
func (r *Report) Poor() *decant.Checkpoint {
	for i := range r.Decisions {
		if cp := r.Decisions[i].Checkpoint; cp != nil && cp.Poor {
			return cp
		}
	}
	return nil
}

// A Report says what was decided about a request.
type Report struct {
	Version   int64             // of the conversation whose decisions are in force; 0: it is not stored yet
	Relation  string            // how the request stands to the conversation
	Reason    policy.Reason     // why there was a pour, empty when there was none
	Route     string            // how it was carried out
	Decisions []decant.Decision // that are new
	Plan      *decant.Plan      // of the pour, or of the one that would have been made
	Planned   *Planned          // what would have been done about a request that was only observed; nil: it was not
	Before    int               // tokens of the request before the decisions that are new
	After     int               // and with them
	LeftOut   int               // tokens of the conversation that the view lacks, see LeftOut
	Freed     int               // of them, by the decisions that are new; negative when these bring more back
	Window    int               // tokens that the model takes
	Messages  int               // of the request
}

// View returns what is sent as a conversation, nil when the request could not be read. Its messages
// have the numbers of the transcript.
func (p *Prepared) View() *decant.Conversation {
	if p.ticket == nil {
		return nil
	}
	return p.ticket.dr.View
}
