package plan

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// RouteCompacted is the name of the route by which the provider writes a summary.
const RouteCompacted = "compacted by the provider"

// compacting has the provider write a summary of the oldest messages, which stands first in the view from then on. It
// is the one change of old history that leaves bound thinking valid in what stays. It is tried once a pour, before all
// others, because it costs a call.
var compacting = route{name: RouteCompacted, carry: (*rewrite).compactRoute}

// maySummarize reports whether the provider can be asked for a summary in a pour for a reason.
func (p *Pour) maySummarize(why policy.Reason) bool {
	dr := p.Draft
	return why == policy.Necessary && !p.quick && dr.asksSummary() && len(dr.Suspended) == 0 && dr.Outcome.Before < dr.Limits.Window
}

// asksSummary reports whether the provider of a request can and may be asked for a summary.
func (dr *Draft) asksSummary() bool {
	return dr.Asker != nil && !dr.Observed && !dr.Count &&
		dr.Preset.Native.Route != preset.RouteLocal && dr.Compactable() && !dr.AsksForEditing()
}

// share is the share of the time for a pour that a provider's summary may take: the next route needs the rest.
const share = 0.75

// compactRoute carries out compacting.
func (r *rewrite) compactRoute(ctx context.Context) error {
	dr := r.Draft
	sent, err := dr.Sent()
	if err != nil {
		return err
	}
	cut := r.summaryCut(sent, r.target)
	if decant.AwaitsServer(sent.Messages) { // what the summary lacks has no place behind the newest results
		return errNoRoute
	}
	if cut == 0 || !r.fitsWindow(sent.With(sent.Messages[:cut])) {
		return errNoRoute
	}
	d := dr.Prompt.Dialect.(dialect.Compacter)
	body, err := dr.Prompt.Doc.Render(dr.Refs.InRequest(marked(dr.Conv, sent.With(sent.Messages[:cut]))))
	if err != nil {
		return fmt.Errorf("write the request for a summary: %w", err)
	}
	form := &dr.Preset.Summary
	limited, cancel := context.WithTimeout(ctx, timeLeft(ctx, form.Timeout.Settled().Foreground))
	defer cancel()
	a, err := dr.Asker.Ask(limited, summaryCause(dr.Input), &provider.Request{
		Model: dr.Conv.Model, Body: d.AskCompaction(body, instructions(dr.Preset)), Betas: append(slices.Clone(dr.Betas), d.CompactionBeta()),
	})
	if err != nil {
		return fmt.Errorf("ask for a summary: %w", err)
	}
	s, ok := d.Compaction(a.Content)
	if !ok {
		return fmt.Errorf("the provider has written none (%s): %w", a.Stop, decant.ErrSummary)
	}
	return r.coverBySummary(ctx, sent.Messages[cut].Number, s, a.Usage)
}

// fitsWindow reports whether the provider can read the beginning of what is sent, of which it clears nothing then: it
// has read it whole in an earlier request, or there is room for all that an estimate may be wrong by.
func (s *Schedule) fitsWindow(view *decant.Conversation) bool {
	dr := s.Draft
	const margin = 1.25
	in := dr.Input
	if dr.Anchored() && policy.NativeIn(dr.InForce) == nil && view.Messages[len(view.Messages)-1].Number <= in.Match.State.Chain[dr.Meter.Length-1].Message {
		return true
	}
	return margin*float64(in.Fixed+dr.Weighed(view)) < float64(dr.Limits.Window)
}

// coverBySummary puts a provider's summary in the place of all messages before one, and behind the newest what it
// lacks.
func (r *rewrite) coverBySummary(ctx context.Context, tail int, s dialect.ProviderSummary, u decant.Usage) error {
	dr := r.Draft
	c := dr.Conv
	covered := c.Messages[:c.Index(tail)]
	paid := dr.Price(u, cost.Terms{At: dr.Now()})
	cp := &decant.Checkpoint{
		From: covered[0].Number, To: covered[len(covered)-1].Number, Messages: len(covered), Placement: decant.PlaceFirst, Rung: decant.RungNative,
		Source: s.Source, Summary: secret.Mask(s.Text), Original: dr.Estimator.Messages(covered), Compressed: dr.Estimator.Count(s.Text), CostUSD: float64(paid) / 1e9,
	}
	f := policy.Foreign{Conversation: c, View: dr.View, Covered: covered, Text: s.Text}
	o := r.planOptions(dr.Limits.Target)
	f.Prove(ctx, cp, o)
	ds := []decant.Decision{{
		Kind: decant.Cover, Reduction: decant.ReductionCheckpoint, Reason: "summarised by the provider", Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	}}
	return dr.Add(r.settle(append(ds, f.Supplement(ctx, o)...)))
}

// timeLeft returns how long a summary may take: as long as a preset permits, and not all of the time that there is.
func timeLeft(ctx context.Context, most time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Duration(share*float64(time.Until(end))))
	}
	return most
}

// summaryCause says on whose behalf the provider is asked.
func summaryCause(in *Input) owncalls.Cause {
	c := owncalls.Cause{Conversation: store.Key{Tenant: in.Start.Tenant}, Upstream: in.Upstream, Purpose: owncalls.ForCompaction}
	if in.Match.Stored != nil {
		c.Conversation = in.Match.Stored.Key
	}
	return c
}

// instructions returns what the provider is told to write, empty for its own words.
func instructions(set *preset.Preset) string {
	if set.Summary.Instructions == "" {
		return ""
	}
	return "Write a summary of the conversation so far, from which the work can go on without it: what the user wants and forbids, in the user's words; " +
		"what was decided and why; what was done and found; exact paths, names, addresses and numbers; what is to be done next. Call no tools.\n\n" + set.Summary.Instructions
}

// summaryCut returns the index of the message from which on a view stays behind a provider's summary: as much as other
// pours keep, whole rounds, and in any case what is under way; 0 when nothing can be summarised. There the role
// changes, which is what keeps thinking valid. Results that make tools known to the model stay.
func (s *Schedule) summaryCut(sent *decant.Conversation, target int) int {
	dr := s.Draft
	ms := sent.Messages
	last, room := newestKept(ms, dr.Preset.Keep), int(s.keepShare()*float64(target))
	best, size, from := 0, 0, len(ms)                    // the tail that begins there was sized
	for _, i := range slices.Backward(decant.Cuts(ms)) { // the shortest tail first
		if i > last || i < 1 {
			continue
		}
		size, from = size+dr.Estimator.Messages(ms[i:from]), i
		if best > 0 && size > room {
			break
		}
		if ms[i].Number > 0 && ms[i-1].Role != ms[i].Role && ms[i].Role != decant.RoleSystem && ms[i-1].Role != decant.RoleSystem {
			best = i
		}
	}
	if slices.ContainsFunc(ms[:best], loads) {
		return 0
	}
	return best
}

// newestKept returns the index of the message from which on all stay because a preset counts messages or turns, and in
// any case the newest.
func newestKept(ms []decant.Message, keep preset.Keep) int {
	last := len(ms) - max(1, keep.Messages)
	if keep.Turns > 0 {
		turns := decant.Turns(ms)
		last = min(last, turns[max(0, len(turns)-keep.Turns)].Start)
	}
	return last
}

// keepShare returns the share of a target that a pour keeps of the newest messages, besides those that a
// preset counts.
func (s *Schedule) keepShare() float64 {
	dr := s.Draft
	switch k := dr.Preset.Keep; {
	case k.Share > 0:
		return k.Share
	case k.Messages+k.Turns > 0:
		return 0
	}
	return 0.2
}

func loads(m decant.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b decant.Block) bool { return b.Loads > 0 })
}

// marked returns a beginning of a request with a cache marker at its end, so that the provider finds there what it has
// kept of earlier ones. Where the request asks for no cache, or has no marker left, it stays as it is.
func marked(request, view *decant.Conversation) *decant.Conversation {
	marks := cost.MessageMarks(request)
	if free, _ := cost.FreeMarkers(view); request.Cache != "" || len(marks) == 0 || free == 0 {
		return view
	}
	ms := slices.Clone(view.Messages)
	last := &ms[len(ms)-1]
	last.Blocks = slices.Clone(last.Blocks)
	for k := len(last.Blocks) - 1; k >= 0; k-- {
		if b := &last.Blocks[k]; b.Kind == decant.KindText || b.Kind == decant.KindUse || b.Kind == decant.KindResult {
			if b.Marker() == "" {
				b.Cache = marks[0].Life
			}
			break
		}
	}
	return view.With(ms)
}

// AskOnce returns an asker that asks for the same body once, however often the request that it is for is prepared.
func AskOnce(a owncalls.Asker) owncalls.Asker {
	if a == nil {
		return nil
	}
	return &once{asker: a}
}

type once struct {
	asker owncalls.Asker

	mu     sync.Mutex
	body   decant.Hash
	answer *provider.Answer
	err    error
}

// Ask implements owncalls.Asker.
func (o *once) Ask(ctx context.Context, c owncalls.Cause, r *provider.Request) (*provider.Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h := decant.HashBytes(r.Body); h != o.body {
		o.answer, o.err = o.asker.Ask(ctx, c, r)
		o.body = h
	}
	return o.answer, o.err
}

// pausing carries out a pour by a summary that the model has written in place of an answer, and behind which it has
// paused.
var pausing = route{name: "compacted at a pause", carry: (*rewrite).pausedRoute}

// mayPause reports whether the model can be asked, in the client's own request, to write a summary in place of an
// answer. The provider counts for itself, and answers as always where it finds the request smaller. Bound thinking in
// an open round would not outlive it, and where all stays that there is no summary serves.
func (p *Pour) mayPause(why policy.Reason, target int) bool {
	dr := p.Draft
	may := why == policy.Necessary && !p.quick && dr.Demand.Reason == "" && dr.Pauses() && len(dr.Suspended) == 0 &&
		dr.Outcome.Before < dr.Limits.Must() && !(dr.Bound() && dr.Conv.OpenRound())
	if !may {
		return false
	}
	sent, err := dr.Sent()
	return err == nil && p.summaryCut(sent, target) > 0
}

// pausedRoute carries out pausing: the summary stands first, in the bytes in which it came, and the newest rounds
// behind it. Thinking in these is bound to what the summary is about, so it goes.
func (r *rewrite) pausedRoute(ctx context.Context) error {
	dr := r.Draft
	sent, err := dr.Sent()
	if err != nil {
		return err
	}
	cut := r.summaryCut(sent, r.target)
	if cut == 0 {
		return errNoRoute
	}
	bound := dr.Bound()
	if err := r.coverBySummary(ctx, sent.Messages[cut].Number, *dr.Demand.Summary, dr.Demand.Paid); err != nil || !bound {
		return err
	}
	return dr.Add(dr.AllThinking())
}
