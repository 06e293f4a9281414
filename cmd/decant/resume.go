package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/wire"
)

// resume compacts a session in place. The original file stays beside it.
func (c *compactCmd) resume(s *process.Process) error {
	f, home, err := c.session(s)
	if err != nil {
		return err
	}
	c.File = f.Path
	was, err := os.Stat(f.Path)
	if err != nil {
		return exit.Input(err)
	}
	r, err := c.read(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "session %s of %s, %s\n", f.ID, f.Format, f.Path)
	if err := c.tell(s, r); err != nil || c.DryRun || !r.Changed {
		return err
	}
	out, err := r.Bytes()
	if err != nil {
		return err
	}
	backup, err := f.Rewrite(was, out, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "resume it: %s\nbackup:    %s\n", home.Resuming(&f), backup)
	return nil
}

// session finds the requested session and its agent.
func (c *compactCmd) session(s *process.Process) (sessionfile.File, *sessionfile.Home, error) {
	homes, err := sessionfile.Homes(s)
	if err != nil {
		return sessionfile.File{}, nil, err
	}
	f, err := sessionfile.Find(s, homes, c.Resume, wire.Format(c.From))
	if err != nil {
		return sessionfile.File{}, nil, exit.Input(err)
	}
	for i := range homes {
		if homes[i].Format == f.Format {
			return f, &homes[i], nil
		}
	}
	return sessionfile.File{}, nil, errors.New("a session without an agent")
}
