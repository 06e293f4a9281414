package chat

import (
	"fmt"
	"io"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/secret"
)

// A watcher writes the lines that a preset has about pours.
type watcher struct{ to io.Writer }

var _ engine.Watcher = (*watcher)(nil)

// Poured implements engine.Watcher.
func (w *watcher) Poured(p *engine.PourEvent) {
	if w.to == nil {
		return
	}
	for _, line := range notice.Lines(p) {
		fmt.Fprintln(w.to, secret.Mask(line)) // nobody can be told that this failed
	}
}

// Warned implements engine.Watcher. The engine of a chat has no budgets: its agent has.
func (w *watcher) Warned(budget.Warning) {}
