package console

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/chat/internal/whatif"
)

// whatIf answers a turn once more, and shows both answers.
func (t *talk) whatIf(ctx context.Context, arguments string) {
	w, err := whatOf(strings.Fields(arguments))
	if err != nil {
		t.screen.line("%v", err)
		return
	}
	t.screen.line("(answering once more; nothing is changed)")
	t.begin(ctx, func(ctx context.Context, tell func(agent.Event, error)) func() {
		out, err := t.chat.WhatIf(ctx, w, func(e agent.Event) {
			switch e.Kind {
			case agent.EventCall, agent.EventPour, agent.EventStatus, agent.EventWarning:
				tell(e, nil)
			}
		})
		return func() { t.compared(out, err) }
	})
}

// whatOf reads what /whatif is to try.
func whatOf(words []string) (w chat.What, err error) {
	const want = "want /whatif, with --preset NAME, --model ID, --memory off, and the number of a turn"
	for i := 0; i < len(words); i++ {
		name, value, inline := strings.Cut(words[i], "=")
		if n, err := strconv.Atoi(name); err == nil && n > 0 {
			w.Turn = n
			continue
		}
		if !inline {
			if i++; i == len(words) {
				return w, fmt.Errorf("%s", want)
			}
			value = words[i]
		}
		switch {
		case name == "--preset":
			w.Preset = value
		case name == "--model":
			w.Model = value
		case name == "--memory" && (value == "off" || value == "on"):
			w.NoMemory = value == "off"
		default:
			return w, fmt.Errorf("%s", want)
		}
	}
	return w, nil
}

// compared shows a comparison.
func (t *talk) compared(c *whatif.Comparison, err error) {
	if err != nil {
		t.failed(err)
		return
	}
	t.failed(c.Write(t.screen))
	t.screen.line("/keep goes on with the second one; else nothing has happened.")
}

// keep goes on with the newest what-if.
func (t *talk) keep(ctx context.Context, _ string) {
	u, err := t.chat.Keep(ctx)
	if err != nil {
		t.failed(err)
		return
	}
	t.screen.line("goes on in session %s, from the answer to: %s", u.Session, clip(u.Text, mostLine))
	t.undone(u)
	if ws := t.chat.Session().Waiting(); len(ws) > 0 {
		t.ask(&ws[0])
	}
}

// undo takes back what was said last, or what /keep has done.
func (t *talk) undo(ctx context.Context, _ string) {
	u, err := t.chat.UndoTurn(ctx)
	switch {
	case err != nil:
		t.failed(err)
		return
	case u.Session != "":
		t.screen.line("back in session %s, as it was before /keep", u.Session)
	default:
		t.screen.line("taken back: %s", clip(u.Text, mostLine))
	}
	t.undone(u)
}

// undone says what has become of files and memories.
func (t *talk) undone(u *chat.Undone) {
	t.screen.line("  files: %s", cmp.Or(strings.Join(u.Files, ", "), "none was changed"))
	t.screen.line("  memories: %s", cmp.Or(strings.Join(u.Memories, "; "), "none was changed"))
	if len(u.Stays) > 0 {
		t.screen.line("  what these have changed stays: %s", strings.Join(u.Stays, ", "))
	}
}
