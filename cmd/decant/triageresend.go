package main

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/triage"
)

type triageDeliverCmd struct {
	ID        string `arg:"" name:"run" optional:"" default:"last" help:"The run, or the beginning of its id (${default})."`
	DryRun    bool   `help:"As --no-deliver."`
	Simulated bool   `help:"Send the findings of a stand-in for a model, too."`
	sendFlags
	triageFlags
}

// Help says what the flags have no room for.
func (c *triageDeliverCmd) Help() string {
	return `What was sent is not sent again: it is noted in the run, and looked for at the service where a process died while it was sent.
Where: slack, issues and pull_request in the settings; SLACK_BOT_TOKEN or SLACK_WEBHOOK_URL, and GITHUB_TOKEN, in the environment.

Exit codes: 0 all is delivered, 1 something is not (it is tried again the next time), 2 impossible command line, 3 no such run.`
}

// Run sends what a run has found, as far as it was not sent before.
func (c *triageDeliverCmd) Run(s *streams) error {
	c.NoDeliver = c.NoDeliver || c.DryRun
	ctx, stop := interruptible()
	defer stop()
	return c.kept(ctx, s, c.ID, false, func(room *triageRoom, r *triage.Run) error {
		if r.Report().Simulated && !c.Simulated && !c.NoDeliver {
			return usageError{errors.New("a stand-in for a model has made these findings, so they are not sent: --dry-run shows them, --simulated sends them all the same")}
		}
		if !r.Done() && !c.NoDeliver {
			return usageError{fmt.Errorf("run %s is not finished: decant triage run --resume", r.ID())}
		}
		return room.deliver(ctx, s, r, c.sendFlags)
	})
}
