package policy

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
)

// HasRoutine reports whether a preset clears by rule: in a first stage of its own, or on every request.
func HasRoutine(p *preset.Preset) bool {
	return p.Prune == preset.PruneEveryRequest || p.Native.Editing.Tokens > 0 && p.Native.Route != preset.RouteNative
}

// ClearRoutine returns what the preset clears by rule of a view with so many tokens: what its first stage
// clears, where the view is larger than that and enough would go, and what it makes always, where it prunes
// on every request. It is a pure function of the view, and returns nil where nothing has become old enough
// since.
func ClearRoutine(ctx context.Context, view *decant.Conversation, t EarlyPour, tokens int) []decant.Decision {
	var out thinned
	for _, ds := range [][]decant.Decision{t.stage(ctx, view, tokens), t.pruned(ctx, view)} {
		for i := range ds {
			out.take(ds[i])
		}
	}
	return out.ds
}

// stage returns what the preset's first stage clears.
func (t EarlyPour) stage(ctx context.Context, view *decant.Conversation, tokens int) []decant.Decision {
	e := t.Preset.Native.Editing
	if e.Tokens <= 0 || t.Preset.Native.Route == preset.RouteNative || tokens <= e.Tokens {
		return nil
	}
	rules := t.Preset.Reduce
	rules.Thinking.Keep = e.KeepThinking
	rules.Clear = preset.Clear{KeepCalls: e.KeepCalls, Text: rules.Clear.Text}
	ds := t.made(ctx, view, rules, []decant.Reduction{decant.ReductionThinking, decant.ReductionClear})
	freed := 0
	for i := range ds {
		freed += ds[i].Before - ds[i].After
	}
	if freed < e.Least {
		return nil
	}
	return ds
}

// pruned returns what the preset makes always, if it does so on every request.
func (t EarlyPour) pruned(ctx context.Context, view *decant.Conversation) []decant.Decision {
	if t.Preset.Prune != preset.PruneEveryRequest {
		return nil
	}
	return t.made(ctx, view, t.Preset.Reduce, t.Preset.Reduce.Always)
}

// made returns what reductions make of a view, without pins, and without thinking of the turn under way and
// thinking that is bound.
func (t EarlyPour) made(ctx context.Context, view *decant.Conversation, rules preset.Reduce, names []decant.Reduction) []decant.Decision {
	tools := t.Preset.Tools
	pinned := pinInstructions(AllPins(t.transcript(view), t.Preset, t.Pinned),
		instructions(ctx, t.transcript(view), t.Counter, mostInstructions))
	s := reduce.Of(ctx, view, reduce.Options{
		Counter: t.Counter, Mask: secret.Mask, Transcript: t.transcript(view), Made: t.Made, KeepRounds: rules.Protect,
		Include: tools.Include, Exclude: tools.Exclude, Pinned: tools.Pin,
	})
	all, turn := reductions(rules), underWay(view)
	var out []decant.Decision
	for _, name := range names {
		out = append(out, all[name](s)...)
	}
	return slices.DeleteFunc(out, func(d decant.Decision) bool {
		_, pin := pinned[d.Target.Ref]
		return pin || d.Kind == decant.DropThinking && (t.Signed || view.Thinking.On() && d.Target.Message > turn)
	})
}

// underWay returns the number of the message with which the turn under way begins.
func underWay(view *decant.Conversation) int {
	for i := len(view.Messages) - 1; i >= 0; i-- {
		if m := &view.Messages[i]; m.Role == decant.RoleUser && !m.Has(decant.KindResult) {
			return m.Number
		}
	}
	return 0
}
