package notice

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/internal/secret"
)

// A Board tells people of pours: in the log, by the lines of presets, and by hooks.
type Board struct {
	Log   *slog.Logger
	Lines io.Writer // gets the lines of presets, nil: nobody does
	Hooks *Hooks    // nil: there are none
	Now   func() time.Time
}

var _ engine.Watcher = (*Board)(nil)

// Poured tells of a pour.
func (b *Board) Poured(x *engine.PourEvent) {
	b.Log.Info("pour", "conversation", x.Key.ID, "notice", secret.Mask(text(x)))
	if b.Lines != nil {
		for _, line := range Lines(x) {
			fmt.Fprintln(b.Lines, secret.Mask(line)) // nobody can be told that this failed
		}
	}
	e := Event{Name: OnPour, Time: b.Now().UTC(), Tenant: x.Key.Tenant, Conversation: x.Key.ID, Facts: factsOf(x)}
	if x.Checkpoint != nil {
		e.Content = map[string]string{"summary": x.Checkpoint.Summary}
	}
	b.Hooks.Tell(e)
}

// Warned tells of a budget that is nearly spent. The log has it already.
func (b *Board) Warned(w budget.Warning) {
	b.Hooks.Tell(Event{
		Name: OnBudget, Time: b.Now().UTC(), Tenant: w.Tenant, Conversation: w.Conversation,
		Facts: spent{Per: w.Budget.Per, Tokens: w.Budget.Tokens, USD: w.Budget.USD, Share: w.Share},
	})
}

// Flushed tells of a flush. The log has it already.
func (b *Board) Flushed(f flush.Flushed) {
	why := ""
	if f.Why != nil {
		why = secret.Mask(plain(f.Why))
	}
	b.Hooks.Tell(Event{
		Name: OnFlush, Time: b.Now().UTC(), Tenant: f.Conversation.Tenant, Conversation: f.Conversation.ID,
		Facts: saved{Cycle: f.Cycle, By: f.By, Saved: f.Saved, Why: why},
	})
}

// saved are the facts of a flush.
type saved struct {
	Cycle int    `json:"cycle"`
	By    string `json:"by"`
	Saved int    `json:"saved"`
	Why   string `json:"why,omitempty"`
}

// spent are the facts of a budget that is nearly spent.
type spent struct {
	Per    string  `json:"per"`
	Tokens int     `json:"tokens,omitzero"`
	USD    float64 `json:"usd,omitzero"`
	Share  float64 `json:"share"`
}

// facts are the facts of a pour.
type facts struct {
	Reason     string  `json:"reason,omitempty"`
	Route      string  `json:"route,omitempty"`
	Preset     string  `json:"preset"`
	Before     int     `json:"tokens_before"`
	After      int     `json:"tokens_after"`
	Threshold  int     `json:"threshold"`
	Window     int     `json:"window"`
	Decisions  int     `json:"decisions"`
	Checkpoint *record `json:"checkpoint,omitempty"`
	Lost       int     `json:"facts_lost"`
	CostUSD    float64 `json:"cost_usd"`
	SaveUSD    float64 `json:"save_usd"`
	Error      string  `json:"error,omitempty"`
}

// A record is a checkpoint without its text.
type record struct {
	Number   int     `json:"number"`
	From     int     `json:"from"`
	To       int     `json:"to"`
	Messages int     `json:"messages"`
	Original int     `json:"tokens_original"`
	Tokens   int     `json:"tokens"`
	Score    float64 `json:"score"` // of the strings of user and model
	Share    float64 `json:"share"` // of all strings
	Rung     string  `json:"rung"`
	CostUSD  float64 `json:"cost_usd"`
}

func factsOf(x *engine.PourEvent) facts {
	f := facts{
		Reason: string(x.Reason), Route: x.Route, Preset: x.Preset.Name, Before: x.Before, After: x.After,
		Threshold: x.Threshold, Window: x.Window,
		Decisions: len(x.Decisions), Lost: x.Lost, CostUSD: x.Price.CostUSD, SaveUSD: x.Price.SaveUSD,
		Error: secret.Mask(plain(x.Err)),
	}
	if cp := x.Checkpoint; cp != nil {
		f.Checkpoint = &record{
			cp.Number, cp.From, cp.To, cp.Messages, cp.Original, cp.Compressed, cp.Score, cp.Share, string(cp.Rung),
			cp.CostUSD,
		}
	}
	return f
}
