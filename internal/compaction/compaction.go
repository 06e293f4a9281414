// Package compaction makes the conversation of one file smaller, in a form that the API or the client accepts.
package compaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Forms of a result beside the formats of wire.
const (
	Same = "same" // the format of the input
	Text = "text" // what a model would read
)

// Options say how far a compaction goes and what it writes.
type Options struct {
	Name   string // of the file, for the report
	As     string // Same, Text or a format that wire writes
	Model  token.Model
	Preset *preset.Preset
	Key    []byte // signs records, so that a later compaction recognises them
	Now    time.Time

	// Target returns the largest size of the messages in tokens, of their size now. Nil means that the preset decides, and
	// that nothing is done below its trigger.
	Target func(all int) int

	// Keep returns the size of the newest rounds that stay verbatim. Nil means a fifth of the target.
	Keep func(all int) int

	KeepTurns *int // least newest turns that stay verbatim; nil: as the preset says
}

// A Result is a finished plan and the view it leads to.
type Result struct {
	Plan    *decant.Plan
	View    *decant.Conversation
	Changed bool // the view differs from the input
	Report  *report.Compaction

	doc     *wire.Document
	o       Options
	written []byte // in the format of the input, nil for anything else
}

// File compacts the conversation of a file. What it writes is read again as the client or the API will read it, so that
// the report describes what those see.
func File(doc *wire.Document, o Options) (*Result, error) {
	doc, replaced, err := doc.Sound()
	if err != nil {
		return nil, err
	}
	r := &Result{doc: doc, o: o}
	live := policy.Recognise(doc.Conversation.With(doc.Conversation.Live()), o.Key)
	trigger, err := o.trigger(doc.Conversation)
	if err != nil {
		return nil, err
	}
	repairs, err := r.plan(live, trigger)
	if err != nil {
		return nil, err
	}
	r.Changed = len(r.Plan.Decisions)+len(repairs)+replaced > 0
	r.Report = report.NewCompaction(o.Name, live, r.View, r.Plan, repairs)
	r.Report.Preset, r.Report.Trigger = o.Preset.Name, trigger
	r.Report.Assumed = o.Model.Assumed && o.Target == nil // with a target the window does not matter
	for _, w := range doc.Warnings {
		r.Report.Warnings = append(r.Report.Warnings, w.String())
	}
	if replaced > 0 {
		r.Report.Warnings = append(r.Report.Warnings, fmt.Sprintf("broken characters, which the API refuses, were replaced by U+FFFD: %d", replaced))
	}
	return r, r.measure()
}

// plan makes the plan and the view.
func (r *Result) plan(live *decant.Conversation, trigger int) (repairs []decant.Decision, err error) {
	o := r.o.planOptions(token.For(r.o.Model).Messages(live.Messages), trigger > 0)
	o.Record = r.o.As == Same && r.doc.Format.Session()
	if legal.ForFormat(string(r.doc.API())).KeepsThinking() {
		o.Preset = o.Preset.Without(decant.ReductionThinking)
	}
	repairs, err = r.legal(live, o)
	if errors.Is(err, decant.ErrIllegal) {
		o.KeepTurns = 0 // a round is open that can neither stay nor go: all of it becomes one message
		repairs, err = r.legal(live, o)
	}
	return repairs, err
}

// legal makes a plan and its view, in which broken history is repaired.
func (r *Result) legal(live *decant.Conversation, o policy.PlanOptions) (repairs []decant.Decision, err error) {
	if r.Plan, err = policy.Plan(context.Background(), live, o); err != nil {
		return nil, err
	}
	r.View, err = r.Plan.Apply(live)
	if err != nil || r.o.As == Same && len(r.Plan.Decisions) == 0 { // history that stays as it is must not be repaired
		return nil, err
	}
	r.View, repairs, err = legal.Mend(r.View, r.rules(r.doc.Format).Of(live))
	return repairs, err
}

// measure writes the result and reads it as the client or the API will, and corrects the sizes of the report. It refuses
// a result that is no smaller.
func (r *Result) measure() (err error) {
	if r.o.As != Same || !r.doc.Format.Writable() || !r.Changed {
		return nil
	}
	if r.written, err = r.doc.Render(r.View); err != nil {
		return err
	}
	again, err := wire.ParseAs(r.doc.Format, r.written)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	live := again.Conversation.With(again.Conversation.Live())
	if bad := legal.Check(live, r.rules(r.doc.Format)); len(bad) > 0 {
		return fmt.Errorf("what was written is not legal: %w", bad[0])
	}
	was, est := r.Plan.Before.Fixed+r.Plan.Before.Messages, token.For(r.o.Model)
	is, fixed := est.Fixed(&live.Fixed)+est.Messages(live.Messages), r.Plan.Before.Fixed
	// Both sizes have the same fixed part, so that what became part of the messages does not seem to be saved.
	r.Plan.After = decant.Size{Fixed: fixed, Messages: is - fixed}
	r.Report.After = len(live.Messages)
	if len(r.Plan.Decisions) > 0 && is >= was {
		return fmt.Errorf("nothing would be gained: the client would send about %d tokens, and sends about %d now", is, was)
	}
	return nil
}

// planOptions returns how far the plan goes, in messages of so many tokens. Below the preset's trigger it does only
// what the preset always does.
func (o *Options) planOptions(all int, below bool) policy.PlanOptions {
	p := policy.PlanOptions{
		KeepTurns: -1, Now: o.Now, Model: o.Model, Estimator: token.For(o.Model), Preset: o.Preset, Key: o.Key, Unbind: true,
	}
	if o.KeepTurns != nil {
		p.KeepTurns = *o.KeepTurns
	}
	if o.Target != nil {
		p.Target = o.Target(all)
	} else if below {
		p.Target = all
	}
	if below {
		any := *p.Preset
		any.Trigger.Messages = 0
		p.Preset = &any
	}
	if o.Keep != nil {
		p.Keep = o.Keep(all)
	}
	return p
}

// trigger returns the size above which the preset compacts, 0 when it is reached or the options have a target. A
// preset's own number is compared with what the file has. The window is also compared with what the provider reported,
// which includes system prompt and tools, which a session file lacks.
func (o *Options) trigger(conv *decant.Conversation) (int, error) {
	if o.Target != nil {
		return 0, nil
	}
	est := token.For(o.Model)
	fixed := est.Fixed(&conv.Fixed)
	l, err := policy.LimitsFor(o.Model, o.Preset, fixed, conv.MaxOutput)
	if err != nil {
		return 0, err
	}
	s := policy.Situation{Limits: l, Tokens: fixed + est.Messages(conv.Live()), MaxBytes: math.MaxInt}
	full := min(o.Model.Window, cmp.Or(o.Preset.Trigger.Window, o.Model.Window)) - l.Reserve
	if policy.Due(s) != "" || (token.Meter{Estimator: est}).Read(conv).Tokens > full {
		return 0, nil
	}
	return l.Trigger, nil
}

// rules returns the rules for a conversation in the given format. A session file may end anywhere; a request body is
// sent as it is.
func (r *Result) rules(f wire.Format) legal.Rules {
	api := f
	if f == r.doc.Format {
		api = r.doc.API()
	}
	conv := r.doc.Conversation
	rules := legal.RulesFor(legal.ForFormat(string(api)), r.o.Model, conv.Thinking)
	if ms := conv.Messages; len(ms) > 0 && ms[len(ms)-1].Role == decant.RoleAssistant {
		rules.Prefill = true // the input ends with the assistant too: the user's next words are still to come
	}
	rules.Record = f.Session()
	return rules
}

// Bytes returns the result as it is written. Without changes and in the same format that is the input.
func (r *Result) Bytes() ([]byte, error) {
	switch {
	case r.o.As == Text:
		return []byte(wire.Text(r.View)), nil
	case r.o.As == Same && !r.Changed:
		return r.doc.Source, nil
	case r.written != nil:
		return r.written, nil
	case r.o.As == Same:
		return r.doc.Render(r.View)
	}
	return r.convert()
}

// convert writes the result for another API, and checks it by reading it again.
func (r *Result) convert() ([]byte, error) {
	f := wire.Format(r.o.As)
	out, err := wire.Encode(r.View, f)
	if err != nil {
		return nil, err
	}
	written, err := wire.ParseAs(f, out)
	if err != nil {
		return nil, fmt.Errorf("read what was written as %s: %w", f, err)
	}
	if bad := legal.Check(written.Conversation, r.rules(f)); len(bad) > 0 {
		return nil, fmt.Errorf("written as %s: %w", f, bad[0])
	}
	return out, nil
}
