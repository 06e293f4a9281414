package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type diffCmd struct {
	Session    string `arg:"" help:"Conversation: id or session, or the start of either, or \"last\". Before a delegate: the hash of its first snapshot, as \"decant chat --team\" prints it."`
	Checkpoint string `arg:"" optional:"" help:"Checkpoint (c:1): compare the views before and after it. Or a delegate's session (d-...): compare its sealed snapshot with its last request. Default: compare the conversation with the current view."`
	Full       bool   `help:"Print the texts, as a unified diff, and not a line for each message that changed."`
	command.DBFlag
}

// A side is a conversation that is compared, under a name.
type side struct {
	name string
	*decant.Conversation
}

// Run prints what Decant changed in what the model sees: which messages, or all of it as a unified diff.
func (c *diffCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		before, after, err := c.sides(ctx, db)
		if err != nil {
			return err
		}
		if c.Full {
			return report.WriteDiff(s.Out, report.Text{Name: before.name, Text: wire.Text(before.Conversation)},
				report.Text{Name: after.name, Text: wire.Text(after.Conversation)}, s.Colour)
		}
		catalog, err := token.Builtin()
		if err != nil {
			return err
		}
		m, _ := catalog.Lookup(before.Model)
		ch := report.Changes{Before: before.name, After: after.name, Was: before.Conversation, Is: after.Conversation, Size: token.For(m)}
		return ch.WriteText(s.Out)
	})
}

func (c *diffCmd) sides(ctx context.Context, db store.Store) (before, after side, err error) {
	child, of, is, err := c.child(ctx, db)
	if err != nil {
		return before, after, err
	}
	if is {
		return c.sealed(ctx, db, child.Key, of)
	}
	conv, err := c.Find(ctx, db, c.Session)
	if err != nil {
		return before, after, err
	}
	if c.Checkpoint == "" {
		t, err := archive.ReadTranscript(ctx, db, conv.Key, store.Newest)
		if err != nil {
			return before, after, err
		}
		view, err := t.View()
		if err != nil {
			return before, after, err
		}
		return side{"transcript", t.Conversation}, side{"view", view}, nil
	}
	return c.around(ctx, db, conv.Key)
}

// around returns the view as it was before a checkpoint was made, and after.
func (c *diffCmd) around(ctx context.Context, db store.Store, k store.Key) (before, after side, err error) {
	n, err := strconv.Atoi(strings.TrimPrefix(c.Checkpoint, "c:"))
	if err != nil {
		return before, after, exit.Usage(fmt.Errorf("%q is not a checkpoint: write c:1", c.Checkpoint))
	}
	pour, err := archive.FindCheckpoint(ctx, db, k, n)
	if errors.Is(err, store.ErrNotFound) {
		return before, after, exit.Input(fmt.Errorf("%s has no checkpoint c:%d: \"decant show %s\" lists them", c.Session, n, c.Session))
	}
	if err != nil {
		return before, after, err
	}
	t, err := archive.ReadTranscript(ctx, db, pour.Key, pour.Version)
	if err != nil {
		return before, after, err
	}
	was, err := decant.View(t.Conversation, pour.Before)
	if err != nil {
		return before, after, err
	}
	is, err := t.View()
	if err != nil {
		return before, after, err
	}
	name := fmt.Sprintf("c:%d", n)
	return side{"before " + name, was}, side{"after " + name + written(pour.Made), is}, nil
}

// written says which parts of a checkpoint models have written about.
func written(ds []decant.Decision) string {
	cp, out := decant.CheckpointIn(ds), ""
	if cp == nil {
		return ""
	}
	for i := range cp.Segments {
		out += " (" + report.SegmentLine(&cp.Segments[i]) + ")"
	}
	return out
}
