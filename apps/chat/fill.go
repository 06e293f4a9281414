package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Fill is what fills the window.
type Fill struct {
	Model  string
	Window int // tokens
	Parts  []part
}

// A part is one sort of what a request holds.
type part struct {
	Name   string
	Tokens int
}

// Fill returns what fills the window now: what the next request holds before anything new is said. Its numbers are estimates.
func (c *Chat) Fill(ctx context.Context) (*Fill, error) {
	model, _ := c.catalog.Lookup(c.meter.Model)
	f := &Fill{Model: c.meter.Model, Window: cmp.Or(c.opts.Window, c.meter.Window, model.Window)}
	size := token.For(model)
	view, err := c.view(ctx)
	if errors.Is(err, store.ErrNotFound) {
		f.add("instructions", size.Count(system(c.opts.Project, c.opts.Now())))
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	f.add("instructions and tools", size.Fixed(&view.Fixed))
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			b := &view.Messages[i].Blocks[k]
			f.add(sortOf(&view.Messages[i], b), size.Block(b))
		}
	}
	slices.SortStableFunc(f.Parts[1:], func(a, b part) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return f, nil
}

// sortOf names the sort of a block.
func sortOf(m *decant.Message, b *decant.Block) string {
	switch {
	case m.Number == 0 || b.Author == decant.AuthorDecant && b.Kind == decant.KindText:
		return "record of what was poured"
	case b.Kind == decant.KindResult && b.Changed != "":
		return "stubs of results"
	case b.Kind == decant.KindResult:
		return "results of tools"
	case b.Kind == decant.KindUse:
		return "calls of tools"
	case b.Kind == decant.KindThinking:
		return "thinking"
	case m.Role == decant.RoleAssistant:
		return "answers"
	}
	return "what you said"
}

// add adds tokens to a part.
func (f *Fill) add(name string, tokens int) {
	i := slices.IndexFunc(f.Parts, func(p part) bool { return p.Name == name })
	if i < 0 {
		i = len(f.Parts)
		f.Parts = append(f.Parts, part{Name: name})
	}
	f.Parts[i].Tokens += tokens
}

// total returns the tokens of all parts.
func (f *Fill) total() (n int) {
	for _, p := range f.Parts {
		n += p.Tokens
	}
	return n
}

// barCells is how many cells a full bar has.
const barCells = 24

// Write draws the parts, one on a line, with the number first, so that a screen reader says what matters before the drawing.
func (f *Fill) Write(w io.Writer) error {
	total := f.total()
	rows := append(slices.Clone(f.Parts), part{"free", max(0, f.Window-total)})
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s tokens (%s), %s\n", humanize.Thousands(total), humanize.Thousands(f.Window), share(total, f.Window), f.Model)
	for _, p := range rows {
		fmt.Fprintf(&b, "  %9s  %4s  %-26s %s\n", humanize.Thousands(p.Tokens), share(p.Tokens, f.Window), p.Name, Bar(p.Tokens, f.Window, barCells))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// share returns a part of a whole in percent.
func share(part, whole int) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// Bar draws a part of a whole in so many cells. What is not nothing has one at least.
func Bar(part, whole, cells int) string {
	n := 0
	if whole > 0 && part > 0 {
		n = min(cells, max(1, (part*cells+whole/2)/whole))
	}
	return strings.Repeat("█", n) + strings.Repeat("░", cells-n)
}
