package report

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/decantdev/decant/internal/replay"
)

// chosen returns the index of the policy that the verdict is about: the preset "default", else the first
// preset among the policies; -1 when there is none, or nothing to compare it with.
func (r *Replay) chosen() int {
	out := -1
	for i := range r.Total {
		name := r.Total[i].Policy
		if i == 0 || !replay.IsPreset(name) {
			continue
		}
		if name == "default" {
			return i
		}
		if out < 0 {
			out = i
		}
	}
	return out
}

// verdict says in words what Decant would have saved and what would have been missed.
func (r *Replay) verdict() string {
	i := r.chosen()
	if i < 0 {
		return ""
	}
	t, base := &r.Total[i], &r.Total[0]
	name := "Decant"
	if t.Policy != "default" {
		name = fmt.Sprintf("Decant (%s)", t.Policy)
	}
	out := fmt.Sprintf("%s would have %s. ", name, saved(t, base, r.Errors.Sessions == len(r.Sessions)))
	out += fmt.Sprintf("%.3f of what the agent wrote next was still in view, %.3f with its context", t.Recall(), t.GroundedRecall())
	switch {
	case t.AtRisk > 0:
		out += fmt.Sprintf("; %s of the must-keep facts were not in the last view", share(t.AtRisk, t.Facts))
	case t.Facts > 0:
		out += "; all must-keep facts were in the last view"
	}
	if t.Illegal > 0 {
		out += fmt.Sprintf("; it broke %s of the API", Count(t.Illegal, "rule"))
	}
	return out + "."
}

// saved says what a policy would have saved of what the first one cost: the share by which they differ in the
// same model, of the dollars that were paid where they are known.
func saved(t, base *replay.Result, known bool) string {
	rest := 1 - costShare(t, base)
	percent := fmt.Sprintf("%.0f%%", 100*math.Abs(rest))
	if t.Unpriced || base.Unpriced {
		return fmt.Sprintf("%s %s of the cost", pick(rest >= 0, "saved", "added"), percent)
	}
	whole := fmt.Sprintf("$%.2f", base.USD)
	switch {
	case base.Policy == "client" && known:
		whole += " that was paid"
	default:
		whole += fmt.Sprintf(" that %q costs", base.Policy)
	}
	usd := math.Abs(rest) * base.USD
	if rest < 0 {
		return fmt.Sprintf("cost $%.2f more than the %s (%s)", usd, whole, percent)
	}
	return fmt.Sprintf("saved $%.2f of the %s (%s)", usd, whole, percent)
}

func pick(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

// notes says what has to be known to read the figures.
func (r *Replay) notes() (out []string) {
	if len(r.Total) == 0 {
		return nil
	}
	out = append(out, r.joinedNotes()...)
	out = append(out, r.compactionNotes()...)
	if n := r.modelNote(); n != "" {
		out = append(out, n)
	}
	if n := r.lifetimeNote(); n != "" {
		out = append(out, n)
	}
	return out
}

// joinedNotes says of which recordings sessions were joined, and what these cost apart.
func (r *Replay) joinedNotes() (out []string) {
	for _, s := range r.Sessions {
		j := s.Joined
		if j == nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s, one after the other, as one conversation: each request has all before it in front, and each recording its own system prompt, tools and pauses. "+
			"Sizes are learned from each recording by itself; what was paid says nothing any more.", Count(len(j.Recordings), "recording")))
		if i := r.chosen(); i >= 0 && i < len(j.Grounded) {
			out = append(out, fmt.Sprintf("grounded looks at the first twelve places of a string, which in so long a history are in work of long ago. If all places count, and what stands in view where it stood last, %q has %s.",
				s.Results[i].Policy, ratio(j.Grounded[i])))
		}
		if i := r.chosen(); i >= 0 && !j.Unpriced && !s.Results[i].Unpriced && j.ApartUSD > 0 {
			out = append(out, fmt.Sprintf("As conversations of their own, each sent whole, the recordings cost $%.2f: %q comes to %s of that.",
				j.ApartUSD, s.Results[i].Policy, ratio(s.Results[i].Modelled/j.ApartUSD)))
		}
	}
	return out
}

// compactionNotes says what was played where the recorded clients compacted.
func (r *Replay) compactionNotes() (out []string) {
	held, compactions, most, begun := 0, 0, 0, 0
	for _, s := range r.Sessions {
		compactions += s.Compactions
		most = max(most, s.CompactedAt)
		if s.Compactions > 0 {
			held++
		}
		if s.Begun {
			begun++
		}
	}
	if held > 0 {
		out = append(out, fmt.Sprintf("%s with %s of the client's own. \"client\" plays them; the calls for their summaries are in no recording and modelled, %s in all. "+
			"The other policies play the whole history as the one conversation that it would have been; what is over the window is priced as if it had been answered.",
			Count(held, "session"), Count(compactions, "compaction"), r.calls()))
		if most > 0 {
			out = append(out, fmt.Sprintf("the largest prompt before a compaction had %s tokens; --window sets another window than the model's.", Thousands(most)))
		}
	}
	if begun > 0 {
		out = append(out, fmt.Sprintf("%s with a summary of the client's at the beginning; what it stands for is not in the file.", Count(begun, "session")))
	}
	return out
}

// calls returns what the client's own calls for summaries cost.
func (r *Replay) calls() string {
	for i := range r.Total {
		if t := &r.Total[i]; t.CallsUSD > 0 && !t.Unpriced {
			return fmt.Sprintf("$%.2f", t.CallsUSD)
		}
	}
	return "a little"
}

// modelNote says how far the model of sizes and cache is from what was recorded.
func (r *Replay) modelNote() string {
	e := r.Errors
	if e.Sessions == 0 && len(r.Sessions) == 1 && r.Sessions[0].Joined != nil {
		return ""
	}
	if e.Sessions == 0 {
		return "no usage that says what was paid: sizes are estimates, and the clock alone says when the cache was cold."
	}
	off := fmt.Sprintf("off by %.1f%% on average, %.1f%% at the median, %.1f%% for nine sessions in ten, %+.1f%% over all", 100*e.Mean, 100*e.Median, 100*e.P90, 100*e.Bias)
	if e.Sessions == 1 {
		off = fmt.Sprintf("off by %+.1f%%", 100*e.Bias)
	}
	return fmt.Sprintf("dollars of \"client\" are those of the recorded usage of %s, at the prices of those days, answers included: $%.2f, of which $%.2f are modelled, "+
		"for answers that are longer than was recorded as they began. "+
		"All other figures are modelled: sizes are fitted to the recorded prompts, and what the recording found in the cache holds for every policy. "+
		"Against the recorded prompts the model is %s.",
		Count(e.Sessions, "session"), e.PaidUSD, e.Answers, off)
}

// lifetimeNote says for how long cache entries are taken to live.
func (r *Replay) lifetimeNote() string {
	n := map[string]int{}
	var order []string
	for _, s := range r.Sessions {
		key := s.Lifetime
		if s.LifetimeBy != "" {
			key += " (" + s.LifetimeBy + ")"
		}
		if n[key] == 0 {
			order = append(order, key)
		}
		n[key]++
	}
	if len(order) == 1 {
		return fmt.Sprintf("lifetime of cache entries: %s.", order[0])
	}
	for i, key := range order {
		order[i] = fmt.Sprintf("%s in %s", key, Count(n[key], "session"))
	}
	return fmt.Sprintf("lifetime of cache entries: %s.", strings.Join(order, ", "))
}

// outliers say for which sessions the model is far off, and why.
func (r *Replay) outliers() (out []string) {
	for _, s := range r.Sessions {
		if a := s.Recorded; a != nil && a.Reason != "" {
			out = append(out, fmt.Sprintf("%s: the model is off by %+.1f%%; %s", path.Base(s.Name), 100*a.Error, a.Reason))
		}
	}
	return out
}
