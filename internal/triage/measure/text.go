package measure

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/triage/layer"
)

// WriteText writes the measurement as tables for people.
func (t *Table) WriteText(w io.Writer) error {
	var b strings.Builder
	t.whole(&b)
	t.single(&b)
	t.notes(&b)
	t.thought(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes lines whose columns are separated by tabs. All columns but the first and the last are numbers.
func table(b *strings.Builder, lines ...string) {
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	w.Flush() // a builder takes everything
}

// cells returns what an arm has used, each figure behind a tab.
func (f *Figures) cells() string {
	return fmt.Sprintf("%s\t%s\t%s\t%d\t$%.4f\t%d of %d\t%d\t", figure.Thousands(f.Billed), figure.Thousands(f.Sent), figure.Thousands(f.Fresh), f.Iterations, f.USD, f.Found, f.Errors, f.Same)
}

// whole writes what all layers bring together.
func (t *Table) whole(b *strings.Builder) {
	off, on := &t.Off, &t.On
	table(b, "\tbilled\tsent\tfresh\tanswers\tcost\texplained\tsame\t", "layers off\t"+off.cells(), "layers on\t"+on.cells(),
		fmt.Sprintf("fewer\t%s\t%s\t%s\t%s\t%s\t\t\t", percent(off.Billed, on.Billed), percent(off.Sent, on.Sent), percent(off.Fresh, on.Fresh), percent(off.Iterations, on.Iterations), percent(int(off.USD*1e6), int(on.USD*1e6))))
	b.WriteString("\nbilled: tokens of prompts at the price of a fresh one (a tenth where they are read from the cache, 1.25 or 2 times where they are written to it).\n" +
		"fresh: not read from the cache. same: errors of which the same is said as with all layers off. off: what a plain loop does.\n\n")
}

// percent returns how many hundredths fewer there are.
func percent(of, left int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*(1-float64(left)/float64(of)))
}

// single writes what each layer brings.
func (t *Table) single(b *strings.Builder) {
	lines := []string{"layer\tsaves alone\tof billed\tits loss costs\tanswers alone\tanswers without\tsame alone\tsame without\t"}
	sum := 0
	for i := range t.Layers {
		r := &t.Layers[i]
		sum += t.alone(r)
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t", r.Layer, figure.Thousands(t.alone(r)), percent(t.Off.Billed, r.Alone.Billed), figure.Thousands(t.without(r)),
			r.Alone.Iterations, r.Without.Iterations, r.Alone.Same, r.Without.Same))
	}
	total := t.Off.Billed - t.On.Billed
	lines = append(lines, fmt.Sprintf("sum\t%s\t%s\t\t\t\t\t\t", figure.Thousands(sum), percent(t.Off.Billed, t.Off.Billed-sum)),
		fmt.Sprintf("remainder\t%s\t%s\t\t\t\t\t\t", figure.Thousands(t.remainder()), percent(t.Off.Billed, t.Off.Billed-t.remainder())),
		fmt.Sprintf("together\t%s\t%s\t\t\t\t\t\t", figure.Thousands(total), percent(t.Off.Billed, t.On.Billed)))
	table(b, lines...)
	b.WriteString("\nThe remainder is there because layers interact: what one has saved, another cannot save again, and the limits of tokens and answers end what others make longer.\n\n")
}

// notes says in words what the layers did.
func (t *Table) notes(b *strings.Builder) {
	if t.Off.Errors > 0 && t.Off.Sent/max(t.Off.Iterations, 1) < 10_000 {
		fmt.Fprintf(b, "The prompts are short, %s tokens on average without layers: editing begins at 30,000 tokens of one prompt and compaction at 50,000.\n", figure.Thousands(t.Off.Sent/t.Off.Iterations))
	}
	for i := range t.Layers {
		r := &t.Layers[i]
		if text := did(r.Layer, &r.Alone); text != "" {
			fmt.Fprintf(b, "%s, alone: %s.\n", r.Layer, text)
		}
	}
	if text := did("", &t.On); text != "" {
		fmt.Fprintf(b, "all together: %s.\n", text)
	}
	if n, with, without := t.Superfluous(); n > 0 {
		fmt.Fprintf(b, "cross-error: %d errors were explained by an earlier one, in %d answers in place of %d (%s fewer).\n", n, with, without, percent(without, with))
	} else {
		b.WriteString("cross-error: no error was explained by what was found about an earlier one, so it has saved nothing here.\n")
	}
}

// did says what a layer has done in an arm, or with an empty name what all of them have.
func did(l layer.Layer, f *Figures) string {
	var out []string
	say := func(of layer.Layer, n int, text string) {
		if n > 0 && (l == of || l == "") {
			out = append(out, figure.Thousands(n)+" "+text)
		}
	}
	w := &f.Work
	say(layer.Editing, w.Edits, fmt.Sprintf("edits cleared %s tokens", figure.Thousands(w.Cleared)))
	say(layer.Compaction, w.Compactions, fmt.Sprintf("summaries took the place of %s tokens", figure.Thousands(w.Summarised)))
	say(layer.Budget, f.Forced, "answers were forced")
	say(layer.Caps, w.Cut, fmt.Sprintf("results lost %s characters", figure.Thousands(w.Left)))
	say(layer.CrossError, w.Earlier, "summaries of earlier errors were told")
	say(layer.Prior, w.Prior, "findings of earlier runs were told")
	say(layer.CodeCache, int(f.Code.Hits), fmt.Sprintf("of %s reads of code came from the cache", figure.Thousands(int(f.Code.Hits+f.Code.Misses))))
	say(layer.PromptCache, f.Sent-f.Fresh, "tokens were read from the provider's cache")
	return strings.Join(out, "; ")
}

// thought writes what becomes of thinking.
func (t *Table) thought(b *strings.Builder) {
	fmt.Fprintf(b, "\nthinking (simulated, in none of the sums above: the stand-in does not think). Allowed: %s tokens the same each time, %s by class and less with each answer (%s fewer). "+
		"A budget that changes makes the provider forget the messages: %s tokens billed in place of %s.\n", figure.Thousands(t.Steady.Work.Thinking), figure.Thousands(t.Fading.Work.Thinking),
		percent(t.Steady.Work.Thinking, t.Fading.Work.Thinking), figure.Thousands(t.Fading.Billed), figure.Thousands(t.Steady.Billed))
}
