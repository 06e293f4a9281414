package notebook

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/memory"
)

// Import makes records of a Markdown file and returns how many are new. A DONE.md gives its tasks. In another
// file, such as a CLAUDE.md, each list item that is an order becomes an observation to review: a file alone
// makes no rule.
func (b *Book) Import(ctx context.Context, name, text string) (n int, err error) {
	if filepath.Base(name) == doneFile {
		return b.importTasks(ctx, text)
	}
	return b.propose(ctx, filepath.Base(name), orders(text))
}

// importTasks records the tasks of a DONE.md.
func (b *Book) importTasks(ctx context.Context, text string) (n int, err error) {
	sheet := parsePage(doneFile, indented.ReplaceAllString(text, "  - "))
	err = b.change(ctx, false, func(l *ledger) error {
		n = 0
		a := readback{l: l, zone: b.o.Now().Location(), count: b.count}
		before := len(l.records)
		for i := range sheet.Found {
			a.added(doneFile, &sheet.Found[i])
		}
		n = len(l.records) - before
		return nil
	})
	if err == nil {
		_, err = b.project(ctx)
	}
	return n, err
}

// propose records texts as observations to review, and returns how many are new.
func (b *Book) propose(ctx context.Context, origin string, texts []string) (n int, err error) {
	err = b.change(ctx, false, func(l *ledger) error {
		n = 0
		for _, text := range texts {
			if text = withoutPrivate(text); l.same(text) != nil || strings.TrimSpace(text) == "" {
				continue
			}
			r, err := l.add(memory.KindObservation, text, memory.Source{})
			if err != nil {
				return err
			}
			r.Offer, r.Why = FromFile, "written in "+origin
			n++
		}
		return nil
	})
	if err == nil {
		_, err = b.project(ctx)
	}
	return n, err
}

var (
	indented = lazyregexp.New(`(?m)^ {3,8}- `)
	bullet   = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)])\s+(.+)$`)
	markup   = strings.NewReplacer("**", "", "__", "")
)

// orders returns the list items of a Markdown text that are orders, outside of code.
func orders(text string) (out []string) {
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if m := bullet.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil && !code && fact.Order(m[1]) {
			out = append(out, markup.Replace(m[1]))
		}
	}
	return out
}
