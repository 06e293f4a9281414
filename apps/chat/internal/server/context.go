package chatserver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
)

// A filling is what fills the window of a session, and what a pour would do.
type filling struct {
	Tokens      int          `json:"tokens"` // of the newest request, or of what the next one begins with
	Window      int          `json:"window"`
	Cycle       int          `json:"cycle"`    // pours so far that made a checkpoint
	Messages    int          `json:"messages"` // that are kept
	Sent        int          `json:"sent"`     // of the view
	Flushes     int          `json:"flushes"`
	Checkpoints []checkpoint `json:"checkpoints"`
	Next        *offer       `json:"next,omitzero"`
	Hold        bool         `json:"hold"`
}

// A checkpoint is one that is in force.
type checkpoint struct {
	Number   int       `json:"number"`
	Messages int       `json:"messages"`
	Before   int       `json:"before"`
	After    int       `json:"after"`
	Record   string    `json:"record"`
	Created  time.Time `json:"created"`
}

// An offer is what a pour would do.
type offer struct {
	Before  int    `json:"before"`
	After   int    `json:"after"`
	Covered int    `json:"covered,omitzero"`
	Record  string `json:"record,omitzero"`
}

// contextAPI answers requests about what a model is sent.
type contextAPI struct{ rooms *rooms }

func (h *contextAPI) getContext(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	c, err := h.contextOf(r.Context(), rm)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, c)
	return nil
}

// within returns the window of a session whose model has one of so many tokens, 0: not known. The agent's may be smaller.
func (rm *room) within(window int) int {
	if rm.agent == nil {
		return window
	}
	p, err := rm.agent.policy()
	if err != nil || p.Trigger.Window == 0 {
		return window
	}
	return min(p.Trigger.Window, cmp.Or(window, p.Trigger.Window))
}

// contextOf returns the context of a session.
func (h *contextAPI) contextOf(ctx context.Context, rm *room) (*filling, error) {
	out := &filling{Messages: len(rm.session.Messages()), Checkpoints: []checkpoint{}}
	rm.mu.Lock()
	out.Tokens, out.Window = rm.size, rm.window
	rm.mu.Unlock()
	out.Window = rm.within(out.Window)
	k := rm.session.Conversation()
	if k.ID == "" {
		return out, nil
	}
	if err := h.rooms.opts.Engine.Flush(ctx); err != nil {
		return nil, err
	}
	t, err := archive.ReadTranscript(ctx, h.rooms.opts.Store, k, store.Newest)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil // its first request has failed
	}
	if err == nil {
		err = out.read(t)
	}
	if err != nil {
		return nil, err
	}
	work, err := h.rooms.opts.Store.Claimed(ctx, k)
	for _, name := range work {
		if strings.HasPrefix(name, "flush ") {
			out.Flushes++
		}
	}
	if err != nil {
		return nil, err
	}
	out.Next, err = h.offered(ctx, k)
	return out, err
}

// read takes what is stored of the conversation.
func (c *filling) read(t *archive.Transcript) error {
	view, err := t.View()
	if err != nil {
		return err
	}
	c.Sent, c.Hold = len(view.Messages), t.State.Head.Hold
	c.Tokens = cmp.Or(c.Tokens, t.State.Anchor.Usage.Context())
	c.Cycle = len(t.State.Checkpoints())
	for _, d := range decant.InForce(t.State.Decisions) {
		if p := d.Checkpoint; p != nil {
			c.Checkpoints = append(c.Checkpoints, checkpoint{p.Number, p.Messages, p.Original, p.Compressed, p.Summary, d.Created})
		}
	}
	return nil
}

// offered returns what a pour would do, nil where there is nothing to do.
func (h *contextAPI) offered(ctx context.Context, k store.Key) (*offer, error) {
	change, err := h.rooms.opts.Engine.Preview(ctx, k)
	if errors.Is(err, decant.ErrNothing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &offer{Before: change.Plan.Before.Total(), After: change.Plan.After.Total()}
	if p := decant.CheckpointIn(change.Plan.Decisions); p != nil {
		out.Covered, out.Record = p.Messages, p.Summary
	}
	return out, nil
}

// postPour pours now.
func (h *contextAPI) postPour(w http.ResponseWriter, r *http.Request, tenant string) error {
	var in struct {
		Focus string `json:"focus"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	return h.change(w, r, tenant, func(ctx context.Context, k store.Key) (*engine.Change, error) {
		return h.rooms.opts.Engine.Pour(ctx, k, in.Focus)
	})
}

// postUndo takes back the newest pour.
func (h *contextAPI) postUndo(w http.ResponseWriter, r *http.Request, tenant string) error {
	return h.change(w, r, tenant, h.rooms.opts.Engine.Undo)
}

// change makes a change to what the model is sent of a session, and answers with what is then so.
func (h *contextAPI) change(
	w http.ResponseWriter, r *http.Request, tenant string,
	plan func(context.Context, store.Key) (*engine.Change, error),
) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	k := rm.session.Conversation()
	if k.ID == "" {
		return decant.ErrNothing
	}
	if err := h.rooms.opts.Engine.Flush(r.Context()); err != nil {
		return err
	}
	change, err := plan(r.Context(), k)
	if err == nil {
		err = h.rooms.opts.Engine.Apply(r.Context(), change)
	}
	if err != nil {
		return err
	}
	rm.mu.Lock()
	rm.size = change.Plan.After.Total()
	rm.mu.Unlock()
	c, err := h.contextOf(r.Context(), rm)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, c)
	return nil
}
