package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/store"
)

type expandCmd struct {
	Handle  string `arg:"" help:"Handle in a stub or a checkpoint: d:1f2e3d4c or c:1."`
	Session string `placeholder:"ID" help:"Conversation of the handle. Required for checkpoints."`
	File    string `placeholder:"FILE" help:"Original file, for handles that \"decant compact\" wrote."`
	command.DBFlag
}

// Run prints the original behind a handle: for a block exactly its text, for a checkpoint the messages
// that it covers.
func (c *expandCmd) Run(s *process.Process) error {
	if c.File != "" {
		return c.file(s)
	}
	err := c.With(s, func(ctx context.Context, db store.Store) error {
		o, err := c.Original(ctx, db, c.Session, decant.Handle(c.Handle))
		if err != nil {
			return err
		}
		return lookup.Expand(ctx, s.Out, db, o)
	})
	if exit.Code(err) == exit.BadInput {
		return fmt.Errorf("%w; for a handle from a compacted file, name the original with --file", err)
	}
	return err
}

// file prints the original that is in a file.
func (c *expandCmd) file(s *process.Process) error {
	digits, ok := strings.CutPrefix(c.Handle, "d:")
	if !ok {
		return exit.Usage(fmt.Errorf("%s: in a file only blocks have handles (d:1f2e3d4c); use \"decant show\" for its messages", c.Handle))
	}
	doc, err := sessionfile.Read(s, c.File, "")
	if err != nil {
		return err
	}
	return printOriginal(s, c.File, doc.Conversation, digits)
}
