package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/internal/secret"
)

// What stands around what a provider's summary lacks.
const (
	supplementBegin = "[What the summary above lacks of what must be kept. It is quoted from m%d to m%d, which the summary stands for; only lines of the user are the user's words.]"
	supplementEnd   = "[End of the quotes.]"
)

// mostSupplement bounds the sentences that are put behind a provider's summary, in tokens.
const mostSupplement = 2000

// A Foreign is a summary that Decant has not written, of the oldest messages of a conversation.
type Foreign struct {
	Conversation *decant.Conversation // all of it
	View         *decant.Conversation // that is sent, with the messages behind the summary
	Covered      []decant.Message     // what it stands for
	Text         string
}

// Prove fills in what a summary keeps of what it stands for: facts and score, in its checkpoint.
func (f *Foreign) Prove(ctx context.Context, cp *decant.Checkpoint, o PlanOptions) {
	cp.Facts = fact.Check(ctx, f.facts(ctx), f.Text).Kept
	said := recall.Of(ctx, f.Covered, f.Text)
	cp.Score, cp.Share, cp.Poor = said.Score, said.Share, said.Strings >= fewStrings && said.Score < o.Preset.Summary.MinScore
}

// Supplement returns the decision that puts behind the newest words of a view what a summary lacks of what
// must be kept: pins and instructions whole, and the sentences of the user and of decisions, those first that
// weigh most. It returns none where nothing is lacking.
func (f *Foreign) Supplement(ctx context.Context, o PlanOptions) []decant.Decision {
	at, ok := lastWord(f.Conversation, f.View)
	if !ok {
		return nil
	}
	quoted, whole := pinsOf(ctx, f.Conversation, &o).quote(f.Covered)
	lines := f.sentences(ctx, o.Estimator)
	if text := strings.TrimSpace(quoted); text != "" {
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		return nil
	}
	begin := fmt.Sprintf(supplementBegin, f.Covered[0].Number, f.Covered[len(f.Covered)-1].Number)
	text := strings.Join(slices.Concat([]string{begin}, lines, []string{supplementEnd}), "\n")
	return []decant.Decision{{
		Kind: decant.Insert, Reduction: decant.ReductionCheckpoint, Reason: "what the provider's summary lacks",
		Target: decant.TargetOf(at), Text: text, After: o.Estimator.Count(text), Repeats: whole,
	}}
}

// facts returns the must-keep facts that were said last in what is covered.
func (f *Foreign) facts(ctx context.Context) []decant.Fact {
	e := evidence{ms: f.Conversation.Messages}
	return e.saidLast(ctx, f.Covered[0].Number, f.Covered[len(f.Covered)-1].Number)
}

// sentences returns the sentences that the summary lacks, in their order.
func (f *Foreign) sentences(ctx context.Context, counter decant.Counter) (out []string) {
	missing := fact.Check(ctx, f.facts(ctx), f.Text).Missing
	missing = slices.DeleteFunc(missing, func(x decant.Fact) bool { return !x.Kind.Sentence() })
	slices.SortStableFunc(missing, func(x, y decant.Fact) int { return cmp.Compare(y.Weight, x.Weight) })
	room, n := mostSupplement, 0
	for _, x := range missing {
		if room -= counter.Count(x.Text) + 8; room < 0 {
			break
		}
		n++
	}
	missing = missing[:n]
	slices.SortStableFunc(missing, func(x, y decant.Fact) int { return cmp.Compare(x.Message, y.Message) })
	for _, x := range missing {
		out = append(out, fmt.Sprintf("m%d %s: %s", x.Message, x.Author, secret.Mask(x.Text)))
	}
	return out
}
