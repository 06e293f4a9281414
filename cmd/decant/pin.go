package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type pinCmd struct {
	Session string `arg:"" help:"Conversation: its id, its session, the beginning of either, or \"last\"."`
	Message string `arg:"" optional:"" help:"Message (m12) that the model must see verbatim. Without it, the conversation is protected from gc."`
	Off     bool   `help:"Remove the pin."`
	dbFlag
}

// Run pins a conversation or a message of it.
func (c *pinCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		conv, err := c.find(ctx, db, c.Session)
		if err != nil {
			return err
		}
		if c.Message == "" {
			return c.conversation(ctx, s, db, conv.Key)
		}
		return c.message(ctx, s, db, conv.Key)
	})
}

// conversation pins a whole conversation.
func (c *pinCmd) conversation(ctx context.Context, s *streams, db *sqlite.DB, k store.Key) error {
	e, err := c.engine(db, nil, 0, "")
	if err != nil {
		return err
	}
	change, err := e.Keep(ctx, k, !c.Off)
	if err == nil {
		err = e.Apply(ctx, change)
	}
	if errors.Is(err, decant.ErrStale) {
		return fmt.Errorf("%w: try again", err)
	}
	if err == nil {
		err = audited(ctx, db, act(c.action(), k.Tenant, k.ID, "the conversation"))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.err, "done; gc %s the conversation\n", map[bool]string{false: "keeps", true: "may remove"}[c.Off])
	return err
}

// action is the command's name in the audit log.
func (c *pinCmd) action() string {
	if c.Off {
		return "pin --off"
	}
	return "pin"
}

// message pins the blocks of a message.
func (c *pinCmd) message(ctx context.Context, s *streams, db *sqlite.DB, k store.Key) error {
	n, err := strconv.Atoi(strings.TrimPrefix(c.Message, "m"))
	if err != nil {
		return usageError{fmt.Errorf("%q is not a message: write m12", c.Message)}
	}
	t, err := archive.ReadTranscript(ctx, db, k, store.Newest)
	if err != nil {
		return err
	}
	e, err := c.engine(db, nil, 0, "")
	if err != nil {
		return err
	}
	pinned := 0
	for _, ref := range pinnable(t, n) {
		change, err := e.Pin(ctx, k, ref, !c.Off)
		if err == nil {
			err = e.Apply(ctx, change)
		}
		if err != nil {
			return err
		}
		pinned++
	}
	if pinned == 0 {
		return inputError{fmt.Errorf("%s has nothing to pin in m%d: \"decant show %s\" lists its messages", c.Session, n, c.Session)}
	}
	if err := audited(ctx, db, act(c.action(), k.Tenant, k.ID, fmt.Sprintf("m%d", n))); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.err, "done; it takes effect with the conversation's next request")
	return err
}

// pinnable returns the blocks of a message that the client has sent and that have text, except thinking.
func pinnable(t *archive.Transcript, number int) (out []decant.Ref) {
	for i := range t.State.Chain {
		e := &t.State.Chain[i]
		if e.Message == number && !e.Text.IsZero() && e.Kind != decant.KindThinking {
			out = append(out, e.Ref)
		}
	}
	return out
}
