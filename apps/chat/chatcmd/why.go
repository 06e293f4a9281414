package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat/internal/receipt"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// Why is the command line of decant why.
type Why struct {
	Session  string `arg:"" help:"Session of \"decant chat\" or of your own agent: id, start of the id, or \"last\"."`
	Answer   string `arg:"" optional:"" help:"Message of the answer (m14). Default: the last answer."`
	Sentence int    `placeholder:"N" help:"Print the sources of this sentence in full."`
	JSON     bool   `name:"json" help:"Print JSON."`
	command.DBFlag
}

// Run prints the receipt of an answer.
func (c *Why) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		r, err := c.receipt(ctx, db)
		if err != nil {
			return err
		}
		if c.JSON {
			return command.WriteJSON(s.Out, r)
		}
		var b strings.Builder
		if err := c.write(&b, r); err != nil {
			return err
		}
		_, err = io.WriteString(s.Out, report.Visible(b.String()))
		return err
	})
}

// write writes a receipt, or one of its sentences.
func (c *Why) write(w io.Writer, r *receipt.Receipt) error {
	switch n := c.Sentence; {
	case n == 0:
		return r.WriteText(w)
	case n < 0 || n > len(r.Sentences):
		return exit.Usage(fmt.Errorf("the answer has sentences 1 to %d: %d", len(r.Sentences), n))
	default:
		return r.Sentences[n-1].WriteQuotes(w)
	}
}

// receipt returns the receipt of the answer.
func (c *Why) receipt(ctx context.Context, db store.Store) (*receipt.Receipt, error) {
	message := agent.Last
	if c.Answer != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(c.Answer, "m"))
		if err != nil || n < 1 {
			return nil, exit.Usage(fmt.Errorf("%q is not a message: write m14", c.Answer))
		}
		message = n - 1
	}
	k, err := c.session(ctx, db)
	if err != nil {
		return nil, err
	}
	m, err := agent.ReadMoment(ctx, db, db, k, message)
	for _, known := range []error{agent.ErrNoAnswer, agent.ErrNotNoted, agent.ErrNotTheSame} {
		if errors.Is(err, known) {
			return nil, exit.Input(err)
		}
	}
	if err != nil {
		return nil, err
	}
	return receipt.Of(m), nil
}

// session returns the key of the session that is meant.
func (c *Why) session(ctx context.Context, db store.Store) (k store.Key, err error) {
	tenant, err := c.Tenant.One(ctx, db)
	if err != nil {
		return k, err
	}
	q := store.JournalQuery{Tenant: tenant, Kind: "session", Name: c.Session, Limit: 2}
	if c.Session == "last" {
		q.Name, q.Limit = "", 1
	}
	found, err := db.Journals(ctx, q)
	switch {
	case err != nil:
		return k, err
	case len(found) == 0:
		return k, exit.Input(fmt.Errorf("no agent session %q: \"decant sessions\" lists stored sessions", c.Session))
	case len(found) > 1 && found[0].ID != c.Session && found[1].ID != c.Session:
		return k, exit.Usage(fmt.Errorf("%q is ambiguous (%s, %s): give more of the id", c.Session, found[0].ID, found[1].ID))
	case len(found) > 1 && found[1].ID == c.Session:
		return found[1].Key, nil
	}
	return found[0].Key, nil
}
