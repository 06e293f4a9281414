package preset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
	case p.Summary.Placement != "" && p.Summary.Placement != string(decant.PlaceMessage) &&
		p.Summary.Placement != string(decant.PlaceAppend):
		return fmt.Errorf("summary.placement: %q is neither message nor append", p.Summary.Placement)
	case p.Summary.Quotes != "" && p.Summary.Quotes != "lines" && p.Summary.Quotes != "none":
		return fmt.Errorf("summary.quotes: %q is neither lines nor none", p.Summary.Quotes)
	case !slices.Contains([]Compacting{"", CompactionSummary, CompactionTrim, CompactionNever}, p.Compaction):
		return fmt.Errorf("compaction: %q is none of %s, %s and %s", p.Compaction, CompactionSummary, CompactionTrim,
			CompactionNever)
	case p.Prune != "" && p.Prune != PruneAtPours && p.Prune != PruneEveryRequest:
		return fmt.Errorf("prune: %q is neither %s nor %s", p.Prune, PruneAtPours, PruneEveryRequest)
	}
	if err := cmp.Or(p.Summary.check(), p.Native.check(), p.Flush.check()); err != nil {
		return err
	}
	for key, names := range map[string][]decant.Reduction{"reduce.order": p.Reduce.Order,
		"reduce.always": p.Reduce.Always} {
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

// check returns an error that names the first key with an impossible value.
func (s *Summary) check() error {
	c := s.Chunk.Settled()
	switch {
	case c.Ratio <= 0 || c.Ratio > 1:
		return fmt.Errorf("summary.chunk.ratio: %v is not a share of a window", c.Ratio)
	case c.Least <= 0 || c.Least > c.Ratio:
		return fmt.Errorf("summary.chunk.least: %v is not between 0 and the ratio, %v", c.Least, c.Ratio)
	case c.Margin < 1:
		return fmt.Errorf("summary.chunk.margin: %v is less than 1", c.Margin)
	case s.Retry.Most > 0 && s.Retry.Most < s.Retry.Least:
		return fmt.Errorf("summary.retry.most: %v is less than the least wait, %v", s.Retry.Most, s.Retry.Least)
	}
	for key, d := range map[string]time.Duration{
		"timeout.background": s.Timeout.Background, "timeout.foreground": s.Timeout.Foreground,
		"retry.least": s.Retry.Least, "retry.most": s.Retry.Most, "retry.jitter": s.Retry.Jitter,
	} {
		if d < 0 {
			return fmt.Errorf("summary.%s: %v is negative", key, d)
		}
	}
	return length("summary.instructions", s.Instructions)
}

// check returns an error that names the first key with an impossible value.
func (f *Flush) check() error {
	if strings.ContainsAny(f.Token, "\r\n") || f.Token != strings.TrimSpace(f.Token) {
		return fmt.Errorf("flush.token: %q is not one line without space around it", f.Token)
	}
	return length("flush.prompt", f.Prompt)
}

// check returns an error that names the first key with an impossible value.
func (n *Native) check() error {
	e, c := n.Editing.Tokens, n.Compaction.Tokens
	switch {
	case !slices.Contains(append(routes(), ""), n.Route):
		return fmt.Errorf("native.route: %q is none of %s", n.Route, strings.Join(routes(), ", "))
	case e > 0 && c > 0 && c <= e:
		return fmt.Errorf("native.compaction.tokens: %d is not more than native.editing.tokens, %d, so the first stage would never come", c, e)
	case e == 0 && n.Editing != Editing{}:
		return fmt.Errorf("native.editing.tokens: name the size from which old results are cleared")
	case c == 0 && n.Compaction.Pause:
		return fmt.Errorf("native.compaction.tokens: name the size from which a summary replaces the context")
	}
	return nil
}

// length returns an error if a text under a key has more than MaxInstructions characters.
func length(key, text string) error {
	if n := utf8.RuneCountInString(text); n > maxInstructions {
		return fmt.Errorf("%s: %d characters are more than %d", key, n, maxInstructions)
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
		"trigger.tokens":               p.Trigger.Tokens,
		"trigger.reserve":              p.Trigger.Reserve,
		"trigger.window":               p.Trigger.Window,
		"trigger.messages":             p.Trigger.Messages,
		"trigger.answers":              p.Trigger.Answers,
		"keep.messages":                p.Keep.Messages,
		"keep.turns":                   p.Keep.Turns,
		"reduce.trim.over":             p.Reduce.Trim.Over,
		"reduce.trim.head":             p.Reduce.Trim.Head,
		"reduce.trim.tail":             p.Reduce.Trim.Tail,
		"reduce.trim.after":            p.Reduce.Trim.After,
		"first_sight.over":             p.Reduce.First.Over,
		"first_sight.head":             p.Reduce.First.Head,
		"first_sight.tail":             p.Reduce.First.Tail,
		"reduce.clear.after":           p.Reduce.Clear.After,
		"reduce.clear.keep_calls":      p.Reduce.Clear.KeepCalls,
		"reduce.clear.least":           p.Reduce.Clear.Least,
		"reduce.thinking.keep":         p.Reduce.Thinking.Keep,
		"flush.ahead":                  p.Flush.Ahead,
		"summary.chunk.overhead":       p.Summary.Chunk.Overhead,
		"summary.retry.attempts":       p.Summary.Retry.Attempts,
		"native.editing.tokens":        p.Native.Editing.Tokens,
		"native.editing.keep_calls":    p.Native.Editing.KeepCalls,
		"native.editing.keep_thinking": p.Native.Editing.KeepThinking,
		"native.editing.least":         p.Native.Editing.Least,
		"native.compaction.tokens":     p.Native.Compaction.Tokens,
		"reduce.protect":               p.Reduce.Protect,
		"summary.max_tokens":           p.Summary.MaxTokens,
		"summary.max_input":            p.Summary.MaxInput,
		"summary.fallback.head":        p.Summary.Fallback.Head,
		"summary.fallback.tail":        p.Summary.Fallback.Tail,
		"summary.preview.over":         p.Summary.Preview.Over,
		"tools.cap":                    p.Tools.Cap,
		"early_pours.keep":             p.EarlyPours.Keep,
		"early_pours.quote_most":       p.EarlyPours.QuoteMost,
		"early_pours.names":            p.EarlyPours.Names,
		"early_pours.least":            p.EarlyPours.Least,
		"early_pours.target":           p.EarlyPours.Target,
	}
}
