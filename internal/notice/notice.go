// Package notice says in words what became of a conversation, for people who watch a gateway and for hooks.
package notice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/humanize"
)

// text returns what was kept by a pour, what left the view, and what it costs, in a few sentences.
func text(x *engine.PourEvent) string {
	if x.Reason == "" {
		return fmt.Sprintf("not poured: %v", x.Err)
	}
	said := []string{fmt.Sprintf("poured (%s): %s tokens became %s", x.Reason, humanize.Thousands(x.Before),
		humanize.Thousands(x.After))}
	if cp := x.Checkpoint; cp != nil {
		said = append(said, fmt.Sprintf("m%d to m%d (%s, %s tokens) are a record of %s now, c:%d, with %.0f%% of all exact strings in them; what follows stays",
			cp.From, cp.To, count(cp.Messages, "message"), humanize.Thousands(cp.Original), humanize.Thousands(cp.Compressed), cp.Number, 100*cp.Share))
		if cp.Lost > 0 {
			said = append(said, count(cp.Lost, "image")+" of them left the view")
		}
	}
	if done := reductions(x.Decisions); done != "" {
		said = append(said, done)
	}
	if x.Lost > 0 {
		said = append(said, count(x.Lost, "fact")+" that should be kept left the view")
	}
	if x.Price.CostUSD > 0 {
		said = append(said, fmt.Sprintf("it costs $%.4f and saves $%.4f with each request", x.Price.CostUSD, x.Price.SaveUSD))
	}
	if x.Err != nil {
		said = append(said, whose(x.Checkpoint)+" is Decant's own: "+strings.TrimSuffix(plain(x.Err), "."))
	}
	return strings.Join(said, ". ") + "."
}

// whose says what of a record is not by a model where one was asked in vain.
func whose(cp *decant.Checkpoint) string {
	if cp != nil && len(cp.Segments) > 0 {
		return "what no earlier segment of the record is about"
	}
	return "the record"
}

// reductions says how many blocks were made smaller, by what.
func reductions(ds []decant.Decision) string {
	by := map[decant.Reduction]int{}
	for i := range ds {
		if d := &ds[i]; d.Checkpoint == nil && d.Kind.Edits() && d.Pour != "" {
			by[d.Reduction]++
		}
	}
	var names []decant.Reduction
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b decant.Reduction) int {
		return cmp.Or(by[b]-by[a], strings.Compare(string(a), string(b)))
	})
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d by %s", by[name], name))
	}
	if len(parts) == 0 {
		return ""
	}
	return "blocks made smaller: " + strings.Join(parts, ", ")
}

// Lines returns the lines that the pour's preset has for people, filled in.
func Lines(x *engine.PourEvent) (out []string) {
	n := x.Preset.Notices
	fill := strings.NewReplacer(
		"{before}", humanize.Thousands(x.Before), "{threshold}", humanize.Thousands(x.Threshold), "{messages}",
		strconv.Itoa(covered(x)),
		"{summary}", humanize.Thousands(written(x)), "{freed}", humanize.Thousands(max(0, x.Before-x.After)),
		"{error}", plain(x.Err),
	)
	add := func(line string, want bool) {
		if line != "" && want {
			out = append(out, fill.Replace(line))
		}
	}
	add(n.Due, x.Checkpoint != nil)
	add(n.Failed, x.Err != nil)
	add(n.Done, x.Checkpoint != nil && x.Err == nil)
	return out
}

// covered returns the messages that a pour's record stands for.
func covered(x *engine.PourEvent) int {
	if x.Checkpoint == nil {
		return 0
	}
	return x.Checkpoint.Messages
}

// written returns the tokens of a pour's record.
func written(x *engine.PourEvent) int {
	if x.Checkpoint == nil {
		return 0
	}
	return x.Checkpoint.Compressed
}

// plain returns an error on one line, of 200 bytes at most.
func plain(err error) string {
	if err == nil {
		return ""
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Thousands(n) + " " + noun + "s"
}
