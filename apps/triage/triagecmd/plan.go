package triagecmd

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
)

type planCmd struct {
	lookFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help describes what the flags do not.
func (c *planCmd) Help() string {
	return `Example:

    decant triage plan --since 7d app.log

The estimate rests on the newest runs in the database, or on the sample if there are none.`
}

// Run prints what a run would cost, and when it would be done. It sends nothing.
func (c *planCmd) Run(s *process.Process) (err error) {
	ctx, stop := s.Context()
	defer stop()
	set, err := c.chosen(s)
	if err != nil {
		return err
	}
	taken, err := c.sample(s, set)
	if err != nil {
		return err
	}
	room, err := c.open(ctx, s, taken, set, false)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	room.model = cmp.Or(set.Model, chatcmd.DefaultModel)
	look, err := c.look(s, room, taken)
	if err != nil {
		return err
	}
	p, err := room.plan(ctx, s, look, true)
	if err != nil {
		return err
	}
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	past, err := triage.Experience(ctx, room.options)
	if err != nil {
		return err
	}
	m, _ := catalog.Lookup(room.model)
	e := p.Estimate(&m, past, time.Now())
	if c.JSON {
		return command.WriteJSON(s.Out, e)
	}
	printEstimate(s, &e)
	return nil
}

func printEstimate(s *process.Process, e *triage.Estimate) {
	w := s.Out
	fmt.Fprintf(w, "%d errors, of which at most %d are investigated. Nothing was sent.\n\n", e.Passed, e.Investigated)
	fmt.Fprintf(w, "            price      done\n")
	fmt.Fprintf(w, "at once     $%.4f    in about %s (decant triage run)\n", e.Loop, lasting(e.LoopTime))
	fmt.Fprintf(w, "in batches  $%.4f    after %d batches: about %s if each takes an hour, %s at most (decant triage run --batch)\n\n",
		e.Batches, e.Rounds, lasting(e.Typical), lasting(e.Longest))
	fmt.Fprintf(w, "This is an estimate, with the prices of %s: %s.\n", e.Model, e.Basis)
}

// lasting writes seconds in the unit that fits.
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
