package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// A Compaction is what one compaction did, for people and programs.
type Compaction struct {
	Name       string       `json:"name"`
	Agent      string       `json:"agent,omitempty"`
	Preset     string       `json:"preset"`
	Trigger    int          `json:"trigger,omitempty"` // tokens of context from which on the preset compacts; 0: that was reached, or not asked
	Plan       *decant.Plan `json:"plan"`
	Rung       decant.Rung  `json:"rung,omitempty"` // of the summary, empty when there is none
	Compacted  int          `json:"messages_compacted"`
	Kept       []span       `json:"kept_verbatim"` // ranges of messages that stayed as they were
	Steps      []step       `json:"steps"`
	Repairs    []string     `json:"repairs,omitempty"` // what was broken in the history and is mended in the view
	Legal      bool         `json:"legal"`
	Estimator  string       `json:"estimator"`
	Assumed    bool         `json:"window_assumed,omitempty"`
	Messages   int          `json:"messages_before"`
	After      int          `json:"messages_after"`
	Checkpoint string       `json:"checkpoint,omitempty"` // "m2 to m118"
	Warnings   []string     `json:"warnings,omitempty"`
}

// A span is a range of messages, by their numbers, both ends included.
type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A step sums up the decisions of one reduction.
type step struct {
	Reduction decant.Reduction `json:"reduction"`
	Decisions int              `json:"decisions"`
	Before    int              `json:"tokens_before"`
	After     int              `json:"tokens_after"`
}

// NewCompaction returns the report of a plan that turned live into view. The view is legal: one that
// is not never gets here.
func NewCompaction(name string, live, view *decant.Conversation, plan *decant.Plan, repairs []decant.Decision) *Compaction {
	r := &Compaction{Name: name, Agent: live.Agent, Plan: plan, Legal: true, Messages: len(live.Messages), After: len(view.Messages)}
	for _, d := range plan.Decisions {
		r.step(d)
		if cp := d.Checkpoint; cp != nil {
			r.Rung = cp.Rung
			r.Checkpoint = fmt.Sprintf("m%d to m%d", cp.From, cp.To)
		}
	}
	for _, d := range repairs {
		r.Repairs = append(r.Repairs, d.Reason)
	}
	r.Kept = verbatim(view)
	r.Compacted = len(live.Messages) - count(r.Kept)
	return r
}

func (r *Compaction) step(d decant.Decision) {
	name := cmp.Or(d.Reduction, decant.Reduction(d.Kind))
	i := slices.IndexFunc(r.Steps, func(s step) bool { return s.Reduction == name })
	if i < 0 {
		i = len(r.Steps)
		r.Steps = append(r.Steps, step{Reduction: name})
	}
	s := &r.Steps[i]
	s.Decisions++
	s.Before += d.Before
	s.After += d.After
}

// verbatim returns the ranges of messages in which nothing was changed.
func verbatim(view *decant.Conversation) []span {
	var out []span
	for i := range view.Messages {
		m := &view.Messages[i]
		if m.Number == 0 || slices.ContainsFunc(m.Blocks, func(b decant.Block) bool { return b.Changed != "" }) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].To == m.Number-1 {
			out[n-1].To = m.Number
			continue
		}
		out = append(out, span{m.Number, m.Number})
	}
	return out
}

func count(spans []span) (n int) {
	for _, s := range spans {
		n += s.To - s.From + 1
	}
	return n
}

// WriteText writes the report for people.
func (r *Compaction) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	plan := r.Plan
	if len(plan.Decisions) == 0 {
		r.nothing(p)
		r.notes(p)
		return p.err
	}
	p.line("estimated ~%s, target %s: compacting %s of %s", Count(plan.Before.Messages, "token"), Thousands(plan.Target), Thousands(r.Compacted), Count(r.Messages, "message"))
	for _, s := range r.Steps {
		p.line("  %-12s %4d %-9s %9s -> %s tokens", s.Reduction, s.Decisions, r.unit(s), Thousands(s.Before), Thousands(s.After))
	}
	p.line("  verbatim     %s", spansText(r.Kept))
	p.line("result: ~%s, %s of before, in %s; legal; %s of the exact strings kept with their context",
		Count(plan.After.Messages, "token"), percent(plan.After.Messages, plan.Before.Messages), Count(r.After, "message"), portion(plan.Score))
	if fixed := plan.Before.Fixed; fixed > 0 {
		after, before := plan.After.Messages+plan.After.Fixed, plan.Before.Messages+fixed
		p.line("with system prompt and tools: ~%s, %s of before", Count(after, "token"), percent(after, before))
	}
	r.price(p)
	r.mended(p)
	r.notes(p)
	return p.err
}

// nothing says why nothing is compacted.
func (r *Compaction) nothing(p *printer) {
	size := Count(r.Plan.Before.Messages, "token") + " in " + Count(r.Messages, "message")
	if r.Trigger > 0 {
		p.line("nothing to compact: estimated ~%s, and the preset %s begins at a context of %s; --to compacts anyway", size, r.Preset, Thousands(r.Trigger))
		return
	}
	p.line("nothing to compact: estimated ~%s, target %s", size, Thousands(r.Plan.Target))
}

// repairs says for the reasons of repairs, as package legal gives them, what was done: once, and more often.
var repairs = map[string][2]string{
	"the text is empty":    {"empty text left out", "empty texts left out"},
	"the message is empty": {"empty message left out", "empty messages left out"},
	"the result answers no call, or one that is answered already":     {"result without a call left out", "results without calls left out"},
	"the same call is recorded twice":                                 {"repeated call left out", "repeated calls left out"},
	"the call was interrupted and has no result":                      {"interrupted call given a result", "interrupted calls given results"},
	"the result stands behind other content and moves up to its call": {"result moved up to its call", "results moved up to their calls"},
}

// mended says what of the history the API would have refused.
func (r *Compaction) mended(p *printer) {
	n := map[string]int{}
	var order, parts []string
	for _, reason := range r.Repairs {
		if n[reason]++; n[reason] == 1 {
			order = append(order, reason)
		}
	}
	for _, reason := range order {
		done := repairs[reason]
		switch {
		case done[0] == "":
			parts = append(parts, fmt.Sprintf("%s: %s", Thousands(n[reason]), reason))
		case n[reason] == 1:
			parts = append(parts, "1 "+done[0])
		default:
			parts = append(parts, Thousands(n[reason])+" "+done[1])
		}
	}
	if len(parts) > 0 {
		p.line("%s, as the API demands", strings.Join(parts, "; "))
	}
}

// unit says what the number of a step counts.
func (r *Compaction) unit(s step) string {
	if s.Reduction == decant.ReductionCheckpoint {
		return r.Checkpoint
	}
	_, what, _ := strings.Cut(Count(s.Decisions, "block"), " ")
	return what
}

func spansText(spans []span) string {
	if len(spans) == 0 {
		return "nothing"
	}
	var parts []string
	for _, s := range spans {
		if s.From == s.To {
			parts = append(parts, fmt.Sprintf("m%d", s.From))
		} else {
			parts = append(parts, fmt.Sprintf("m%d to m%d", s.From, s.To))
		}
	}
	if len(parts) > 6 {
		parts = append(append(parts[:3:3], fmt.Sprintf("%d more stretches", len(parts)-5)), parts[len(parts)-2:]...)
	}
	return strings.Join(parts, ", ")
}

func (r *Compaction) price(p *printer) {
	price := r.Plan.Price
	switch {
	case price.SaveUSD == 0:
		p.line("price: unknown for model %q; saves %s on every later request", r.Plan.Model, Count(price.Saved, "token"))
	case price.BreakEven < 0:
		p.line("price (%s): writing the cache anew costs $%.3f and is never earned back", r.Plan.Model, price.CostUSD)
	default:
		p.line("price (%s): writing the cache anew costs $%.3f, every later request saves $%.4f: paid after %d", r.Plan.Model, price.CostUSD, price.SaveUSD, price.BreakEven)
	}
}

func (r *Compaction) notes(p *printer) {
	if r.Assumed {
		p.line("note: the window of %s is not known: assumed %s tokens", cmp.Or(r.Plan.Model, "the model"), Thousands(r.Plan.Window))
	}
	for _, w := range slices.Concat(r.Plan.Notes, r.Warnings) {
		p.line("note: %s", w)
	}
}
