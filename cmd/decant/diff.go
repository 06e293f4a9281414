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
	"github.com/decantdev/decant/wire"
)

type diffCmd struct {
	Session    string `arg:"" help:"Conversation: id or session, or the start of either, or \"last\". Before a delegate: the hash of its first snapshot, as \"decant chat --team\" prints it."`
	Checkpoint string `arg:"" optional:"" help:"Checkpoint (c:1): compare the views before and after it. Or a delegate's session (d-...): compare its sealed snapshot with its last request. Default: compare the conversation with the current view."`
	command.DBFlag
}

// Run prints what Decant changed in what the model sees, as a unified diff.
func (c *diffCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		before, after, err := c.texts(ctx, db)
		if err != nil {
			return err
		}
		return report.WriteDiff(s.Out, before, after, s.Colour)
	})
}

func (c *diffCmd) texts(ctx context.Context, db store.Store) (before, after report.Text, err error) {
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
		return report.Text{Name: "transcript", Text: wire.Text(t.Conversation)}, report.Text{Name: "view", Text: wire.Text(view)}, nil
	}
	return c.around(ctx, db, conv.Key)
}

// around returns the view as it was before a checkpoint was made, and after.
func (c *diffCmd) around(ctx context.Context, db store.Store, k store.Key) (before, after report.Text, err error) {
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
	return report.Text{Name: "before " + name, Text: wire.Text(was)}, report.Text{Name: "after " + name + written(pour.Made), Text: wire.Text(is)}, nil
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
