// Package measure says what each context layer brings: it has the same errors investigated by the same model with all layers off, with all of them on,
// with each of them off alone and with each of them on alone.
//
// Layers interact: where the prompt is cached, a shorter one saves less. So what they bring one by one does not add up to what they bring together, and
// the difference is a line of its own.
package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/layer"
	"github.com/decantdev/decant/internal/triage/report"
	"github.com/decantdev/decant/token"
)

// An Arm is one way to investigate.
type Arm struct {
	Name     string    `json:"name"`
	Off      layer.Set `json:"-"`
	Thinking bool      `json:"thinking,omitzero"` // the model may think before its answers
}

// Options configures a measurement. All of it but Layers is required.
type Options struct {
	Model token.Model // whose prices hold
	At    time.Time   // on which day

	Layers []layer.Layer // that are measured one by one; nil: all but thinking

	// Play has the same errors investigated anew, with nothing left of the time before: neither what is known of errors nor what the provider
	// and the code cache keep. It returns the reports of its runs.
	Play func(ctx context.Context, a Arm) ([]*report.Report, error)
}

// Figures are what one arm has used and found.
type Figures struct {
	Arm
	Errors     int              `json:"errors"`
	Found      int              `json:"found"`      // whose cause is known
	Same       int              `json:"same"`       // of which the same was said as with all layers off, on the same evidence
	Iterations int              `json:"iterations"` // answers of the model
	Related    int              `json:"related"`    // errors that were explained by an earlier one of the run
	Forced     int              `json:"forced"`
	Billed     int              `json:"billed"` // tokens of prompts at the price of a fresh one: those that are read from the cache, or written to it, count as what they cost
	Sent       int              `json:"sent"`   // tokens of prompts
	Fresh      int              `json:"fresh"`  // of them, not read from the cache
	USD        float64          `json:"usd"`    // with the answers
	Code       code.Stats       `json:"code"`
	Work       investigate.Work `json:"layers"`

	errors map[string]outcome
}

// An outcome is what was found about an error.
type outcome struct {
	state      investigate.State
	evidence   []string
	iterations int
	related    bool
}

// A Table is a measurement.
type Table struct {
	Off    Figures `json:"off"` // all layers off: a plain loop
	On     Figures `json:"on"`  // all layers on
	Layers []row   `json:"layers"`

	// Steady and Fading are arms in which the model may think, as long each time, and less with each answer. What a stand-in would think is its own opinion: of
	// these two counts what they allow, and what they do to the provider's cache. They have no budget: what could be thought is held back from one.
	Steady Figures `json:"thinking_steady"`
	Fading Figures `json:"thinking_fading"`
}

// A row is what one layer brings.
type row struct {
	Layer   layer.Layer `json:"layer"`
	Alone   Figures     `json:"alone"`   // all layers off but this one
	Without Figures     `json:"without"` // all layers on but this one
}

// measured returns the layers that are measured one by one: all but thinking, which is measured where the model thinks.
func measured() []layer.Layer {
	return slices.DeleteFunc(layer.All(), func(l layer.Layer) bool { return l == layer.Thinking })
}

// Run measures.
func Run(ctx context.Context, o Options) (*Table, error) {
	t := &Table{}
	play := func(to *Figures, a Arm) error {
		all, err := o.Play(ctx, a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		*to = figures(a, all, &o)
		to.compare(&t.Off)
		return nil
	}
	if err := play(&t.Off, Arm{Name: "all layers off", Off: layer.Only()}); err != nil {
		return nil, err
	}
	if err := play(&t.On, Arm{Name: "all layers on"}); err != nil {
		return nil, err
	}
	layers := o.Layers
	if layers == nil {
		layers = measured()
	}
	for _, l := range layers {
		r := row{Layer: l}
		if err := play(&r.Alone, Arm{Name: "only " + string(l), Off: layer.Only(l)}); err != nil {
			return nil, err
		}
		if err := play(&r.Without, Arm{Name: "all but " + string(l), Off: layer.Off(l)}); err != nil {
			return nil, err
		}
		t.Layers = append(t.Layers, r)
	}
	if err := play(&t.Steady, Arm{Name: "thinking, the same each time", Off: layer.Off(layer.Thinking, layer.Budget), Thinking: true}); err != nil {
		return nil, err
	}
	return t, play(&t.Fading, Arm{Name: "thinking, by class and less each time", Off: layer.Off(layer.Budget), Thinking: true})
}

// figures adds up what the runs of an arm have used.
func figures(a Arm, all []*report.Report, opts *Options) Figures {
	out := Figures{Arm: a, errors: map[string]outcome{}}
	for _, r := range all {
		out.Code.Hits, out.Code.Misses = out.Code.Hits+r.Totals.Code.Hits, out.Code.Misses+r.Totals.Code.Misses
		for i := range r.Errors {
			if r.Errors[i].Finding != nil {
				out.add(&r.Errors[i], opts)
			}
		}
	}
	return out
}

// add adds an error that was investigated.
func (f *Figures) add(e *report.Error, opts *Options) {
	o := e.Finding
	f.Errors++
	if o.State == investigate.RootCause {
		f.Found++
	}
	if o.Related > 0 {
		f.Related++
	}
	if o.Forced {
		f.Forced++
	}
	f.Iterations += o.Iterations
	f.Billed += billed(opts.Model, opts.At, o.Usage)
	f.Sent += o.Usage.Prompt()
	f.Fresh += o.Usage.Prompt() - o.Usage.CacheRead
	f.USD += o.USD
	f.Work = f.Work.Plus(o.Work)
	said := outcome{state: o.State, iterations: o.Iterations, related: o.Related > 0}
	for _, v := range o.Evidence {
		said.evidence = append(said.evidence, fmt.Sprintf("%s %s:%d", v.Repo, v.Path, v.Line))
	}
	f.errors[e.Key] = said
}

// agrees reports whether two outcomes are the same: both explain the error, or neither does, and they share a line of evidence where both have some.
func (o outcome) agrees(with outcome) bool {
	shared := len(o.evidence) == 0 || len(with.evidence) == 0
	for _, line := range o.evidence {
		shared = shared || slices.Contains(with.evidence, line)
	}
	return o.state == with.state && shared
}

// compare says about how many errors the same was said as in another arm.
func (f *Figures) compare(with *Figures) {
	f.Same = 0
	for key, o := range f.errors {
		if was, ok := with.errors[key]; ok && o.agrees(was) {
			f.Same++
		}
	}
}

// billed returns the tokens of prompts as fresh ones that cost the same. Where the price of a model is not known, the tokens are returned as they are.
func billed(m token.Model, at time.Time, u decant.Usage) int {
	const many = 1_000_000
	u.Output = 0
	one, known := cost.Billionths(m, decant.Usage{Input: many}, cost.Terms{At: at})
	all, ok := cost.Billionths(m, u, cost.Terms{At: at})
	if !known || !ok || one == 0 {
		return u.Prompt()
	}
	return int(float64(all) / float64(one) * many)
}

// alone returns what a layer saves in billed tokens where all others are off.
func (t *Table) alone(r *row) int { return t.Off.Billed - r.Alone.Billed }

// without returns what is billed more where a layer is missing and all others are there.
func (t *Table) without(r *row) int { return r.Without.Billed - t.On.Billed }

// remainder returns what the layers save together and not one by one; less than zero: they save one by one what can be saved once.
func (t *Table) remainder() int {
	n := t.Off.Billed - t.On.Billed
	for i := range t.Layers {
		n -= t.alone(&t.Layers[i])
	}
	return n
}

// Superfluous returns of how many errors an earlier one of the run had told what to look for, and the answers of the model that these took with that and
// without it. No other error counts.
func (t *Table) Superfluous() (errors, with, without int) {
	i := slices.IndexFunc(t.Layers, func(r row) bool { return r.Layer == layer.CrossError })
	if i < 0 {
		return 0, 0, 0
	}
	for key, o := range t.On.errors {
		if was, ok := t.Layers[i].Without.errors[key]; ok && o.related && o.iterations < was.iterations {
			errors, with, without = errors+1, with+o.iterations, without+was.iterations
		}
	}
	return errors, with, without
}
