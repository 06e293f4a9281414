package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/refs"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/reduce"
	"github.com/decantdev/decant/token"
)

// An attempt is one request on its way through the engine, against one state of its conversation.
type attempt struct {
	*lineage.Match
	*refs.Map
	e    *Engine
	req  *Request
	who  lineage.Start
	r    *prompt.Prompt
	must policy.Reason // a pour that must happen, whatever the meter says
	most int           // bytes that the body may have
	cold bool          // nothing of the request before can be read from the cache

	begun time.Time // when the request came

	model  token.Model
	est    *token.Estimator
	preset *preset.Preset
	meter  meter
	limits policy.Limits
	fixed  int // tokens of system prompt and tools

	inForce   []decant.Decision // committed before, as far as they concern the request
	withdrawn []decant.Decision // take back what was made for a tail that the request replaces
	suspended []decant.Decision // native ones that are in force and cannot be carried out
	made      []decant.Decision // by this attempt, in order
	before    *decant.Conversation
	view      *decant.Conversation // under all of them
	report    Report
	known     knowledge // of the account that the request is for
	demand    forced    // what a refusal of the provider demands
	betas     []string
	params    []byte // replaces the request's thinking parameter, nil: it stays

	group     string // how the ids of a pour's decisions begin, empty when there is none
	id        string // of the conversation that the request begins
	quick     bool   // there is no time for more than the last rung
	trial     *trial // of a request that is only observed; nil: it is not
	ticket    string // id under which the store knows that the request is under way, empty when it does not
	suppress  int    // pours of this attempt that were not worth it
	pressed   bool   // a budget is nearly spent
	committed bool   // what it brought is in the store
	moved     bool   // its place must be found anew before it is archived
	sight     *sight // how it stood when it was sent
	decided   int    // decisions of the conversation when it was sent, its own included
}

// observe finds the request's conversation and replays what was decided about it.
func (e *Engine) observe(ctx context.Context, req *Request, who lineage.Start, r *prompt.Prompt) (*attempt, error) {
	p, err := e.place(ctx, who, r)
	if err != nil {
		return nil, err
	}
	return e.replay(req, who, r, p)
}

// place finds the place of a request. One that plainly goes on with what is stored need not wait for what is still
// to be archived. Any other may have its own beginning there, what became of the tail that it lacks, or how it ended
// itself when it was sent before. Archives that have ended since the store was asked count as well.
func (e *Engine) place(ctx context.Context, who lineage.Start, r *prompt.Prompt) (*lineage.Match, error) {
	under, apart := e.pending.under(who, r)
	p, err := e.lookFor(ctx, who, r)
	if err == nil && (apart || p.Relation != lineage.Continues || p.Repeats()) && (e.archived(ctx, who) || under) {
		p, err = e.lookFor(ctx, who, r)
	}
	return p, err
}

// lookFor finds the place of a request, within its patience.
func (e *Engine) lookFor(ctx context.Context, who lineage.Start, r *prompt.Prompt) (*lineage.Match, error) {
	ctx, cancel := e.optional(ctx)
	defer cancel()
	return e.finder.Find(ctx, who, r)
}

// archived waits until what is to be archived of a conversation is stored, and reports whether anything was. A
// store that hangs costs a request no more than its patience.
func (e *Engine) archived(ctx context.Context, who lineage.Start) bool {
	ctx, cancel := e.waiting(ctx)
	defer cancel()
	return e.pending.wait(ctx, who)
}

// replay builds the view of a request under the decisions that are in force at its place.
func (e *Engine) replay(req *Request, who lineage.Start, r *prompt.Prompt, p *lineage.Match) (*attempt, error) {
	a := &attempt{
		e: e, req: req, who: who, r: r, Match: p, Map: lineage.References(r, p), preset: req.Preset, most: e.opts.MaxBytes,
		begun: e.opts.Now().UTC(),
	}
	if a.preset == nil {
		a.preset = e.opts.Preset
	}
	if p.Stored != nil {
		p.Stored.Saw(r, p.Known())
		a.meter = notesOf(p.Stored).reading()
		a.decided = len(p.State.Decisions)
	}
	a.model = e.model(a.Conv.Model, a.meter.Window, req.Betas)
	a.preset = a.preset.For(a.model.ReadShare(a.begun))
	a.est = e.sizes.estimator(a.model)
	a.fixed = e.sizes.fixed(a.est, &a.Conv.Fixed)
	a.withdrawn = e.withdrawn(p)
	a.inForce = p.Applicable(a.Map, a.withdrawn)
	a.keepDropping()
	v, err := decant.Replay(a.Conv, a.inForce)
	if err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	a.before, a.view = v, v
	a.known = e.known(a.account())
	if err := a.suspend(); err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	a.report = Report{Relation: string(p.Relation), Messages: len(a.Conv.Messages), Window: a.model.Window}
	return a, nil
}

// force takes over what a refusal of the provider demands.
func (a *attempt) force(f forced) {
	a.must, a.demand = f.reason, f
	if f.bytes > 0 {
		a.most = min(a.most, f.bytes)
	}
	if f.window > 0 {
		a.meter.Window = f.window
		a.model = a.e.model(a.Conv.Model, f.window, a.req.Betas)
		a.report.Window = a.model.Window
	}
	if f.factor > 0 {
		a.meter.Calibration = token.Calibration{Factor: min(max(f.factor, 0.5), 2), Seen: a.meter.Seen + 1}
	}
	if f.reason == policy.Overflow {
		a.meter.length = 0 // what was reported before has proved wrong
	}
}

// model looks a model up for a request that asks for betas. A window that the options name replaces the
// catalogue's; a smaller one that the provider has named in a refusal counts in any case.
func (e *Engine) model(id string, learned int, betas []string) token.Model {
	m, _ := e.opts.Catalog.Lookup(id)
	m = m.For(betas)
	if e.opts.Window > 0 {
		m.Window, m.Assumed = e.opts.Window, false
	}
	if learned > 0 {
		m.Window, m.Assumed = min(m.Window, learned), false
	}
	return m
}

// decide makes the decisions of this request: first what it brings for the first time, then, if it is
// due, the pour. The error says what was due and could not be done; the view stays legal.
func (a *attempt) decide(ctx context.Context) error {
	if err := a.inherit(ctx); err != nil {
		return err
	}
	if err := a.giveUpEditing(ctx); err != nil {
		return err
	}
	if err := a.firstSight(ctx); err != nil {
		return fmt.Errorf("first sight: %w", err)
	}
	if err := a.repeatPins(); err != nil {
		return fmt.Errorf("repeat pins: %w", err)
	}
	a.report.Before = a.size(a.view)
	a.report.After = a.report.Before
	l, err := policy.LimitsFor(a.model, a.preset, a.fixed, a.Conv.MaxOutput)
	a.limits = l
	if err != nil {
		return err
	}
	a.tighten(ctx)
	if a.must == "" && a.unsure() && a.awaited(ctx) { // what the provider has reported since
		return errBehind
	}
	if done, err := a.yield(ctx); done || err != nil {
		return err
	}
	reason := a.must
	if reason == "" && (!a.Repeats() || a.demand.unedit) {
		reason = policy.Due(a.situation())
	}
	if reason == "" {
		return nil
	}
	if a.must == "" && a.overtook(ctx) {
		return errBehind
	}
	return a.pour(ctx, reason)
}

// errBehind means that the conversation must be looked at anew before it is poured: an earlier request
// has been archived since, or was about to be.
var errBehind = errors.New("an earlier request was being archived")

// awaited waits for archives of the conversation that are under way, and reports whether there were any.
func (a *attempt) awaited(ctx context.Context) bool {
	ctx, cancel := a.e.waiting(ctx)
	defer cancel()
	return a.e.pending.wait(ctx, a.who)
}

// overtook waits for archives of the conversation that are under way, and reports whether there were
// any, or one has ended since the conversation was looked at. A pour must know all of it, and that this
// request is not the same again.
func (a *attempt) overtook(ctx context.Context) bool {
	if a.awaited(ctx) {
		return true
	}
	ctx, cancel := a.e.optional(ctx)
	defer cancel()
	l := lineage.Best(a.e.finder.Cache.From(a.who), a.r)
	switch {
	case a.Stored == nil:
		return l != nil
	case l != nil && l.SharedWhole(a.r) > a.Known():
		return true
	case a.Relation == lineage.Forks: // wherever its parent has gone since
		return false
	case a.Stored.State() != cmp.Or(a.Actual, a.State):
		return true
	}
	v, err := a.e.store.Version(ctx, a.Stored.Key) // its archive may have known the conversation by another reading
	return err == nil && v != a.State.Version
}

// firstSight shrinks results that arrive for the first time: those after the last message of the
// assistant, which nothing was written on top of. What was seen before stays as it was, and so does what there
// is no time for.
func (a *attempt) firstSight(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.e.opts.Optional)
	defer cancel()
	last := len(a.view.Messages) - 1
	for last >= 0 && a.view.Messages[last].Role != decant.RoleAssistant {
		last--
	}
	if last < 0 || last == len(a.view.Messages)-1 {
		return nil
	}
	s := reduce.Of(ctx, a.view.With(a.view.Messages[last:]), a.reduceOptions())
	t := a.preset.Reduce.First
	var ds []decant.Decision
	for _, d := range reduce.FirstSight(s, policy.AtFirstSight(t)) {
		if a.isNew(d.Target.Ref) {
			ds = append(ds, d)
		}
	}
	return a.add(ds)
}

func (a *attempt) reduceOptions() reduce.Options {
	t := a.preset.Tools
	return reduce.Options{Counter: a.est, Mask: secret.Mask, Include: t.Include, Exclude: t.Exclude, Pinned: t.Pin}
}

// isNew reports whether the block with a reference is not in the store yet.
func (a *attempt) isNew(ref decant.Ref) bool {
	if a.Stored == nil {
		return true
	}
	for i := len(a.Entries) - 1; i >= 0 && a.Entries[i] < 0; i-- {
		if a.refOf(i) == ref {
			return true
		}
	}
	return false
}

// refOf returns the transcript reference of the i-th block of the spine.
func (a *attempt) refOf(i int) decant.Ref {
	at := a.r.At(i)
	if a.Same {
		return at.Ref
	}
	return a.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
}

// add makes decisions of this attempt and brings the view up to date.
func (a *attempt) add(ds []decant.Decision) error {
	if len(ds) == 0 {
		return nil
	}
	if err := a.name(ds); err != nil {
		return err
	}
	all := append(a.made[:len(a.made):len(a.made)], ds...)
	v, err := decant.Replay(a.Conv, append(a.inForce[:len(a.inForce):len(a.inForce)], all...))
	if err != nil {
		return fmt.Errorf("apply decisions: %w", err)
	}
	a.made, a.view = all, v
	return nil
}

// name gives decisions that were made together their ids, which begin alike, and the time. All
// decisions of one pour are made together.
func (a *attempt) name(ds []decant.Decision) error {
	group := a.group
	if group == "" {
		var err error
		if group, err = a.e.ids.Next(); err != nil {
			return err
		}
	}
	now := a.e.opts.Now().UTC()
	for i := range ds {
		ds[i].ID = fmt.Sprintf("%s.%d", group, len(a.made)+i+1)
		ds[i].Created = now
	}
	return nil
}

// render returns the bytes of the view: the request's own body when nothing is different.
func (a *attempt) render() ([]byte, error) {
	if len(a.inForce)+len(a.made) == 0 {
		return a.req.Body, nil
	}
	sent, err := a.sent()
	if err != nil {
		return nil, err
	}
	body, err := a.r.Doc.Render(a.InRequest(policy.MarkView(sent, a.view, a.Conv, slices.Concat(a.inForce, a.made))))
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if a.params != nil {
		body = anthropic.WithThinking(body, a.params)
	}
	return a.withClearing(body)
}

// prepared returns the result of the attempt.
func (a *attempt) prepared(body []byte) *Prepared {
	if a.sight == nil {
		a.sight = a.look()
	}
	a.report.Decisions, a.report.LeftOut = a.made, a.sight.lacks
	if len(a.made) > 0 && !a.req.Count { // what is only counted is decided by the request itself
		a.report.Freed = a.report.LeftOut - policy.LeftOut(a.inForce)
	}
	p := &Prepared{Body: body, Betas: a.neededBetas(), Report: a.report, attempt: a}
	switch {
	case a.starts():
		p.Conversation = a.newID()
	case a.Stored != nil:
		p.Conversation = a.Stored.Key.ID
		p.Report.Version = a.State.Version
	}
	return p
}

// starts reports whether the request will begin a conversation of its own in the store.
func (a *attempt) starts() bool {
	return !a.committed && (a.Stored == nil || a.Relation == lineage.Forks || a.Relation == lineage.Returns && len(a.made) > 0)
}

// newID returns the id that the request's new conversation gets.
func (a *attempt) newID() string {
	if a.id == "" {
		a.id, _ = a.e.ids.Next() // without an id the store refuses the commit and says so
	}
	return a.id
}

// View returns what is sent as a conversation, nil when the request could not be read. Its messages
// have the numbers of the transcript.
func (p *Prepared) View() *decant.Conversation {
	if p.attempt == nil {
		return nil
	}
	return p.attempt.view
}
