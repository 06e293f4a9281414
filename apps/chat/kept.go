package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
)

// A Kept is what files were before they were changed, of each session apart, so that Rewind takes changes back in another process, too.
type Kept interface {
	// Use goes on with what is kept of a session.
	Use(session string) error

	// Copy copies what is kept of a session for a fork of it.
	Copy(from, to string) error

	// Collect removes what is kept of sessions that are not known any more.
	Collect(known func(session string) (bool, error)) error
}

// keep has what files were kept for a session from now on. Where that fails, nobody changes a file, and the reason is told.
func (c *Chat) keep(s *agent.Session) {
	if c.opts.Kept != nil {
		c.complain(c.opts.Kept.Use(s.ID()))
	}
}

// keepFork has a fork begin with what is kept of the session that it was made of.
func (c *Chat) keepFork(from string, fork *agent.Session) {
	if c.opts.Kept != nil {
		c.complain(c.opts.Kept.Copy(from, fork.ID()))
	}
}

// collect removes what is kept of sessions that were removed.
func (c *Chat) collect(ctx context.Context) {
	if c.opts.Kept == nil {
		return
	}
	c.complain(c.opts.Kept.Collect(func(id string) (bool, error) {
		_, err := c.db.Store().Journal(ctx, store.Key{ID: id})
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return true, err
	}))
}

// complain tells of an error that nothing else depends on.
func (c *Chat) complain(err error) {
	if err != nil && c.opts.Notices != nil {
		fmt.Fprintln(c.opts.Notices, err) // nobody can be told that this failed
	}
}
