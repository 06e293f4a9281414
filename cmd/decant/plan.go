package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

type planCmd struct {
	Source string `arg:"" help:"Stored conversation (its id, its session, the beginning of either, or \"last\"), or a request body or session file."`
	From   string `placeholder:"FORMAT" help:"Format of a file. Default: found in the content."`
	Model  string `placeholder:"ID" help:"For a file: the model that will read it. Default: the one in the file."`
	Window amount `placeholder:"TOKENS" help:"Window of the model. Default: the gateway's setting, then the catalogue's."`
	Preset string `placeholder:"NAME" help:"Policy: default, agent-loop, chat, coding-session, night-watch, orchestrator, or a YAML file. Default: the gateway's setting."`
	Apply  bool   `help:"Apply the plan from the next request on. Refused if the conversation has moved on."`
	At     int64  `placeholder:"VERSION" help:"With --apply: only if the conversation is still at this version, so that you get exactly the plan that was printed."`
	JSON   bool   `name:"json" help:"Print JSON."`
	catalogFlag
	dbFlag
}

// Run prints what a pour would do to a conversation now, and with --apply does it. It never changes a
// file.
func (c *planCmd) Run(s *streams) error {
	if isFile(c.Source) {
		return c.file(s)
	}
	return c.with(func(ctx context.Context, db store.Store) error { return c.stored(ctx, s, db) })
}

// file makes a plan for a file and writes nothing; "decant compact" writes.
func (c *planCmd) file(s *streams) error {
	if c.Apply {
		return usageError{fmt.Errorf("%s is a file: \"decant compact\" writes a smaller one", c.Source)}
	}
	pre, err := preset.Load(cmp.Or(c.Preset, "default"))
	if err != nil {
		return usageError{err}
	}
	doc, err := s.document(c.Source, c.From)
	if err != nil {
		return err
	}
	catalog, err := c.models()
	if err != nil {
		return err
	}
	live := doc.Conversation.With(doc.Conversation.Live())
	model, _ := catalog.Lookup(modelOf(c.Model, live))
	if c.Window.tokens > 0 {
		model.Window = c.Window.tokens
	}
	plan, err := policy.Plan(context.Background(), live, policy.PlanOptions{Model: model, Estimator: token.For(model), Preset: pre, KeepTurns: -1, Now: time.Now()})
	if err != nil {
		return fmt.Errorf("%s: %w", c.Source, err)
	}
	return c.print(s, &report.Plan{Name: c.Source, Plan: plan})
}

// stored makes a plan for a stored conversation.
func (c *planCmd) stored(ctx context.Context, s *streams, db store.Store) error {
	catalog, err := c.models()
	if err != nil {
		return err
	}
	e, err := c.engine(db, catalog, c.Window.tokens, c.Preset)
	if err != nil {
		return err
	}
	conv, err := c.find(ctx, db, c.Source)
	if err != nil {
		return err
	}
	if err := c.still(conv.Version); err != nil {
		return err
	}
	change, err := e.Preview(ctx, conv.Key)
	if errors.Is(err, decant.ErrNothing) {
		return c.print(s, &report.Plan{Name: c.Source, Version: conv.Version, Plan: &decant.Plan{Reason: "there is nothing worth leaving out now", Model: conv.Model}})
	}
	if err != nil {
		return err
	}
	if err := c.still(change.Version); err != nil { // it has moved on since it was found
		return err
	}
	if err := c.print(s, planOf(c.Source, change)); err != nil {
		return err
	}
	if !c.Apply {
		fmt.Fprintf(s.err, "nothing was changed; to do exactly this, run\n  decant plan %s --apply --at %d%s\n", c.Source, change.Version, c.again())
		return nil
	}
	if err := apply(ctx, e, db, change, changed("plan --apply", conv.Key, change)); err != nil {
		return err
	}
	fmt.Fprintln(s.err, takesEffect)
	return nil
}

// still returns an error if the plan is asked for another version of the conversation.
func (c *planCmd) still(version int64) error {
	if c.At == 0 || c.At == version {
		return nil
	}
	return fmt.Errorf("%s is at version %d, not at %d: %w", c.Source, version, c.At, decant.ErrStale)
}

// again returns the flags that the same plan needs again.
func (c *planCmd) again() (flags string) {
	if c.Window.given {
		flags += fmt.Sprintf(" --window %d", c.Window.tokens)
	}
	if c.Preset != "" {
		flags += " --preset " + c.Preset
	}
	return flags
}

func (c *planCmd) print(s *streams, p *report.Plan) error {
	if c.JSON {
		return writeJSON(s.out, p)
	}
	return p.WriteText(s.out)
}
