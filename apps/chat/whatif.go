package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat/internal/whatif"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A What says which turn is answered once more, and under what.
type What struct {
	Turn     int    // from 1; 0: the newest
	Model    string // empty: the same
	Preset   string // name or file; empty: the same
	NoMemory bool
}

// A trial is a what-if that somebody may keep.
type trial struct {
	out     *whatif.Comparison
	session *agent.Session
	preset  *preset.Preset // nil: the same
}

// WhatIf answers a turn once more under other circumstances; see package whatif. heard is told of what happens; nil: nobody is. Nothing changes,
// unless Keep goes on with it.
func (c *Chat) WhatIf(ctx context.Context, w What, heard func(agent.Event)) (*whatif.Comparison, error) {
	s := c.Session()
	change := whatif.Change{Model: w.Model, NoMemory: w.NoMemory}
	if w.Preset != "" {
		p, err := preset.Load(w.Preset)
		if err != nil {
			return nil, err
		}
		change.Preset = p
	}
	o := whatif.Options{Client: c.opts.Client, Agent: c.options(c.meter.Model), Source: c.db.Store(), Memory: c.memoryTools(), Now: c.opts.Now}
	o.Agent.Tools = c.agent.Tools() // with those of a team
	out, tried, err := whatif.Run(ctx, o, s, cmp.Or(w.Turn, len(s.Turns())), change, heard)
	if err != nil {
		return nil, err
	}
	err = c.dropTried(ctx)
	c.trial, c.tried = &trial{out: out, session: tried, preset: change.Preset}, append(c.tried, tried.ID())
	return out, err
}

// memoryTools returns the names of the tools of memory, which New has put at the end.
func (c *Chat) memoryTools() (out []string) {
	for _, t := range c.tools[len(c.tools)-memoryTools:] {
		out = append(out, t.Name)
	}
	return out
}

// memoryTools is how many tools package remember has.
const memoryTools = 3

// dropTried removes what was tried and nobody has kept.
func (c *Chat) dropTried(ctx context.Context) error {
	for len(c.tried) > 0 {
		if err := c.db.Store().DropJournal(ctx, store.Key{ID: c.tried[0]}); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("remove a what-if that was not kept: %w", err)
		}
		c.tried = c.tried[1:]
	}
	return nil
}

// A kept is how Keep is taken back.
type kept struct {
	from   *agent.Session
	model  string
	preset *preset.Preset
	back   back
	trial  *trial
}

// errNoTrial means that there is nothing to keep.
var errNoTrial = errors.New("there is nothing to keep: /whatif tries something first, and what you say next ends it")

// Keep goes on with the newest what-if in place of the turn that it answers, and of all that was said since: what these turns have changed in files
// and memories is taken back, but for what the what-if shares with them. UndoTurn takes it back, as long as nothing was said. Where
// files have changed since, nothing happens. Model and preset are those of the what-if from now on.
func (c *Chat) Keep(ctx context.Context) (*Undone, error) {
	t := c.trial
	if t == nil {
		return nil, errNoTrial
	}
	k := &kept{from: c.Session(), model: c.meter.Model, preset: c.opts.Preset, trial: t}
	var err error
	if k.back, err = c.takeBack(ctx, k.from, t.out.First, t.out.Would.Shared); err != nil {
		return nil, err
	}
	if err := c.goOver(ctx, t.session.ID(), t.out.Would.Model, cmp.Or(t.preset, k.preset)); err != nil {
		return nil, errors.Join(err, c.putBack(ctx, k.back))
	}
	if err := c.Session().SetLabels(map[string]string{whatif.Label: ""}); err != nil {
		return nil, err
	}
	c.kept, c.tried = k, nil
	out := k.back.undone
	out.Text, out.Session = t.out.Text, c.Session().ID()
	return &out, nil
}

// unkeep takes back what Keep has done.
func (c *Chat) unkeep(ctx context.Context) (*Undone, error) {
	k := c.kept
	if err := c.putBack(ctx, k.back); err != nil {
		return nil, err
	}
	tried := c.Session()
	if err := c.goOver(ctx, k.from.ID(), k.model, k.preset); err != nil {
		return nil, err
	}
	c.trial, c.tried = k.trial, append(c.tried, tried.ID())
	c.trial.session = tried
	out := k.back.undone
	out.Text, out.Session, out.Stays = k.trial.out.Text, k.from.ID(), nil
	return &out, tried.SetLabels(map[string]string{whatif.Label: k.from.ID()})
}

// goOver goes on with another session, under a model and a preset.
func (c *Chat) goOver(ctx context.Context, id, model string, p *preset.Preset) error {
	wasModel, wasPreset := c.meter.Model, c.opts.Preset
	c.opts.Preset = p
	err := c.use(model)
	if err == nil {
		err = c.Open(ctx, id, false)
	}
	if err != nil {
		c.opts.Preset = wasPreset
		return errors.Join(err, c.use(wasModel))
	}
	return nil
}
