package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/token"
)

type triagePlanCmd struct {
	triageRunCmd
}

// Run shows what a run would cost, and when it would be done. It sends nothing.
func (c *triagePlanCmd) Run(s *streams) (err error) {
	ctx, stop := interruptible()
	defer stop()
	set, err := c.chosen(s)
	if err != nil {
		return err
	}
	taken, err := c.sample(set)
	if err != nil {
		return err
	}
	room, err := c.open(ctx, taken, set, false)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	if room.model == "" {
		if room.model = set.Model; room.model == "" {
			room.model = defaultModel
		}
	}
	p, err := c.plan(ctx, s, room, taken)
	if err != nil {
		return err
	}
	catalog, err := c.models()
	if err != nil {
		return err
	}
	m, _ := catalog.Lookup(room.model)
	e, err := c.estimate(ctx, room, p, &m)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(s.out, e)
	}
	e.print(s)
	return nil
}

// estimate returns what a plan would cost.
func (c *triagePlanCmd) estimate(ctx context.Context, room *triageRoom, p *triage.Plan, m *token.Model) (*planned, error) {
	past, err := triage.Experience(ctx, room.options)
	if err != nil {
		return nil, err
	}
	return &planned{Model: m.ID, Estimate: p.Estimate(m, past, time.Now()), Most: room.set.Most}, nil
}

// planned is what decant triage plan prints.
type planned struct {
	Model string `json:"model"`
	Most  int    `json:"max_errors"`
	triage.Estimate
}

func (e *planned) print(s *streams) {
	w := s.out
	fmt.Fprintf(w, "%d errors: a triage pass looks at all of them, at most %d are investigated. Nothing was sent.\n\n", e.Passed, e.Investigated)
	fmt.Fprintf(w, "            price      done\n")
	fmt.Fprintf(w, "at once     $%.4f    in about %s (decant triage run)\n", e.Loop, lasting(e.LoopTime))
	fmt.Fprintf(w, "in batches  $%.4f    after %d batches: about %s if each takes an hour, %s at the most (decant triage submit)\n\n", e.Batches, e.Rounds, lasting(e.Typical), lasting(e.Longest))
	fmt.Fprintf(w, "All of this is an estimate: %s, with the prices of %s. Certain is that a batch has half the price of the same requests, and that it ends within 24 hours; what has no answer by then is sent again.\n", e.Basis, e.Model)
}

// lasting writes seconds as people say a time.
func lasting(seconds int) string {
	d := time.Duration(seconds) * time.Second
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
