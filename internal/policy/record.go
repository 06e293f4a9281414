package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// fewStrings is the minimum number of exact strings by which a record is judged.
const fewStrings = 10

// errTooSmall means that the room left is too small for a record.
var errTooSmall = errors.New("no room for a summary")

// A recorder makes the records of one conversation.
type recorder struct {
	opts     *PlanOptions
	conv     *decant.Conversation
	sizes    *sizes
	pins     *pins
	evidence *evidence
}

// A passage is the range of a checkpoint and the limits of its record.
type passage struct {
	checkpoint decant.Checkpoint // without its record
	covered    []decant.Message
	input      provider.SummaryInput
	images     int            // tokens of what the checkpoint carries
	limits     summary.Limits // of the record's text
	extract    int            // tokens of the extractive record's text
	draft      *summary.Draft // of the extractive record; nil: there was no time
}

// passage returns [from, to) as a passage whose checkpoint may have budget tokens beside its quotes.
func (r *recorder) passage(ctx context.Context, from, to, budget int) *passage {
	all := r.conv.Messages[from:to]
	covered, kept := apart(all, r.pins.standing)
	form, est := r.opts.Preset.Summary, r.opts.Estimator
	p := &passage{covered: covered, checkpoint: decant.Checkpoint{
		Number: 1, From: all[0].Number, To: all[len(all)-1].Number,
		Messages: len(covered), Original: est.Messages(covered), Kept: kept,
		Placement: decant.Placement(form.Placement), Reply: form.Reply,
	}}
	p.checkpoint.Carried, p.images = r.carry(covered, to, budget/2)
	p.limits = summary.Limits{Source: p.checkpoint.Original, Budget: budget - around(form, est) - p.images, Counter: est}
	p.input = provider.SummaryInput{
		Messages: readable(covered, form), Counter: est, NoResults: form.Quotes == "none", Form: form,
		Facts: r.evidence.saidLast(ctx, p.checkpoint.From, p.checkpoint.To), Wanted: r.evidence.used(ctx, r.opts, r.sizes),
	}
	return p
}

// carry returns the images that a checkpoint ending at a cut carries, and their tokens: images of pins, and
// those of the newest round if nothing stays verbatim.
func (r *recorder) carry(covered []decant.Message, cut, room int) ([]decant.Ref, int) {
	var newest map[int]bool
	if cut == len(r.conv.Messages) {
		newest = newestOf(r.conv.Messages)
	}
	return pictures(covered, newest, r.pins.all, r.opts.Estimator, room)
}

// checkpoint makes the checkpoint of a passage.
func (r *recorder) checkpoint(ctx context.Context, p *passage) (*decant.Checkpoint, error) {
	s, err := r.record(ctx, p)
	if err != nil {
		return nil, err
	}
	p.extract = s.Tokens
	return r.written(ctx, p, s, r.opts.Key), nil
}

// record makes the record of a passage by the first rung that is accepted.
func (r *recorder) record(ctx context.Context, p *passage) (summary.Summary, error) {
	if p.limits.Budget <= 0 {
		return summary.Summary{}, errTooSmall
	}
	s, err := r.extract(ctx, p)
	if errors.Is(err, decant.ErrSummary) {
		s, err = r.headTail(ctx, p)
	}
	switch {
	case errors.Is(err, decant.ErrSummary), errors.Is(err, decant.ErrNothing):
		return s, errTooSmall
	case err != nil:
		return s, fmt.Errorf("summarise m%d to m%d: %w", p.checkpoint.From, p.checkpoint.To, err)
	}
	return s, nil
}

// written returns the checkpoint of a passage with a record, sealed if key is not empty.
func (r *recorder) written(ctx context.Context, p *passage, s summary.Summary, key []byte) *decant.Checkpoint {
	form, cp := r.opts.Preset.Summary, p.checkpoint
	quoted, refs := r.pins.quote(p.covered)
	cp.Rung, cp.Facts, cp.Pins = s.Rung, s.Facts, refs
	cp.Summary = summary.Seal(framed(form, strings.TrimSpace(s.Text)+quoted), key)
	cp.Compressed = r.opts.Estimator.Count(cp.Summary) + p.images
	said := r.evidence.recalled(ctx, p.covered, cp.Summary)
	cp.Score, cp.Share, cp.Poor = said.Score, said.Share, r.opts.Quick || said.Strings >= fewStrings && said.Score < form.MinScore
	return &cp
}

// extract is the rung before the last: lines of the messages, within limits.
func (r *recorder) extract(ctx context.Context, p *passage) (summary.Summary, error) {
	if r.opts.Quick {
		return summary.Summary{}, fmt.Errorf("there is no time: %w", decant.ErrSummary)
	}
	in := &p.input
	d, s, err := summary.NewDraft(ctx, in.Messages, summary.Options{
		Budget: beside(p.limits), Counter: in.Counter, NoResults: in.NoResults, Wanted: in.Wanted,
	})
	if err != nil {
		return summary.Summary{}, err
	}
	p.draft = d
	sum, err := summary.Accept(ctx, s.Text, in.Facts, p.limits)
	sum.Rung = s.Rung
	return sum, err
}

// beside returns the tokens that a text may have within limits. The rest is for a list of missing facts
// behind it.
func beside(l summary.Limits) int { return l.Budget - int(summary.IndexShare*float64(l.Budget)) }

// headTail is the last rung: the two ends of the text, regardless of facts.
func (r *recorder) headTail(ctx context.Context, p *passage) (summary.Summary, error) {
	f := r.opts.Preset.Summary.Fallback
	if f.Head+f.Tail == 0 {
		return summary.Summary{}, fmt.Errorf("the preset has no fallback: %w", decant.ErrSummary)
	}
	text := secret.Mask(summary.HeadTail(wire.Text(r.conv.With(p.input.Messages)), f.Head, f.Tail))
	if r.opts.Estimator.Count(text) > p.limits.Budget {
		return summary.Summary{}, fmt.Errorf("%d tokens are too few for the two ends: %w", p.limits.Budget, decant.ErrSummary)
	}
	s, err := summary.Accept(ctx, text, nil, p.limits)
	s.Rung = decant.RungHeadTail
	return s, err
}

// around returns the tokens of the preset's markers and of the answer that it may add.
func around(form preset.Summary, est *token.Estimator) int {
	const joints = 8 // line ends, and a message's overhead
	const seal = 12  // of the record
	n := est.Count(form.Begin) + est.Count(form.End) + joints + seal
	if form.Reply != "" {
		n += est.Count(form.Reply) + joints
	}
	return n
}

// framed puts the preset's markers around a summary.
func framed(form preset.Summary, text string) string {
	parts := []string{text}
	if form.Begin != "" {
		parts = []string{form.Begin, text}
	}
	if form.End != "" {
		parts = append(parts, form.End)
	}
	return strings.Join(parts, "\n")
}
