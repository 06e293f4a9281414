package preset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// reductions are the names allowed in Reduce.Order and Reduce.Always.
var reductions = []decant.Reduction{
	decant.ReductionTerminal, decant.ReductionSuperseded, decant.ReductionDuplicate, decant.ReductionStub,
	decant.ReductionTrim, decant.ReductionClear, decant.ReductionThinking, decant.ReductionArguments,
}

// check returns an error that names the first key with an impossible value.
func (p *Preset) check() error {
	if c := p.For(0); c != p {
		if err := c.check(); err != nil {
			return fmt.Errorf("cheap_reads: %w", err)
		}
	}
	switch {
	case p.Trigger.Target < 0 || p.Trigger.Target > 1:
		return fmt.Errorf("trigger.target: %v is not between 0 and 1", p.Trigger.Target)
	case p.Keep.Share < 0 || p.Keep.Share > 1:
		return fmt.Errorf("keep.share: %v is not between 0 and 1", p.Keep.Share)
	case p.Summary.MinScore < 0 || p.Summary.MinScore > 1:
		return fmt.Errorf("summary.min_score: %v is not between 0 and 1", p.Summary.MinScore)
	case p.EarlyPours.Quote < 0 || p.EarlyPours.Quote > 1:
		return fmt.Errorf("early_pours.quote: %v is not between 0 and 1", p.EarlyPours.Quote)
	case p.EarlyPours.Patience < 0:
		return fmt.Errorf("early_pours.patience: %v is negative", p.EarlyPours.Patience)
	case !slices.Contains(append(Levels(), ""), p.EarlyPours.Level):
		return fmt.Errorf("early_pours.level: %q is none of %s", p.EarlyPours.Level, strings.Join(Levels(), ", "))
	case p.Summary.Placement != "" && p.Summary.Placement != string(decant.PlaceMessage) && p.Summary.Placement != string(decant.PlaceAppend):
		return fmt.Errorf("summary.placement: %q is neither message nor append", p.Summary.Placement)
	case p.Summary.Quotes != "" && p.Summary.Quotes != "lines" && p.Summary.Quotes != "none":
		return fmt.Errorf("summary.quotes: %q is neither lines nor none", p.Summary.Quotes)
	}
	for key, names := range map[string][]decant.Reduction{"reduce.order": p.Reduce.Order, "reduce.always": p.Reduce.Always} {
		for _, name := range names {
			if !slices.Contains(reductions, name) {
				return fmt.Errorf("%s: no reduction named %q: there are %s", key, name, listed(reductions))
			}
		}
	}
	for key, n := range p.numbers() {
		if n < 0 {
			return fmt.Errorf("%s: %d is negative", key, n)
		}
	}
	return nil
}

// listed returns the names of reductions as an error lists them.
func listed(rs []decant.Reduction) string {
	names := make([]string, len(rs))
	for i, r := range rs {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// numbers returns every count in the preset under its key.
func (p *Preset) numbers() map[string]int {
	return map[string]int{
		"trigger.tokens":         p.Trigger.Tokens,
		"trigger.reserve":        p.Trigger.Reserve,
		"trigger.window":         p.Trigger.Window,
		"trigger.messages":       p.Trigger.Messages,
		"keep.messages":          p.Keep.Messages,
		"keep.turns":             p.Keep.Turns,
		"reduce.trim.over":       p.Reduce.Trim.Over,
		"reduce.trim.head":       p.Reduce.Trim.Head,
		"reduce.trim.tail":       p.Reduce.Trim.Tail,
		"reduce.trim.after":      p.Reduce.Trim.After,
		"first_sight.over":       p.Reduce.First.Over,
		"first_sight.head":       p.Reduce.First.Head,
		"first_sight.tail":       p.Reduce.First.Tail,
		"reduce.clear.after":     p.Reduce.Clear.After,
		"reduce.protect":         p.Reduce.Protect,
		"summary.max_tokens":     p.Summary.MaxTokens,
		"summary.max_input":      p.Summary.MaxInput,
		"summary.fallback.head":  p.Summary.Fallback.Head,
		"summary.fallback.tail":  p.Summary.Fallback.Tail,
		"summary.preview.over":   p.Summary.Preview.Over,
		"tools.cap":              p.Tools.Cap,
		"early_pours.keep":       p.EarlyPours.Keep,
		"early_pours.quote_most": p.EarlyPours.QuoteMost,
		"early_pours.names":      p.EarlyPours.Names,
		"early_pours.least":      p.EarlyPours.Least,
	}
}
