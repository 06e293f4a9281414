package triagecmd

import (
	"context"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/process"
)

type askCmd struct {
	Name     string `arg:"" name:"run#n" help:"The error of a run: RUN#2, or last#2."`
	Question string `arg:"" help:"Your question."`
	flags
}

// Help describes what the flags do not.
func (c *askCmd) Help() string {
	return `Example:

    decant triage ask last#2 'Why not the cache?'

The agent answers in a copy of its investigation, which stays as it is.`
}

// Run asks the agent that investigated an error.
func (c *askCmd) Run(s *process.Process) error {
	run, n, err := numbered(c.Name)
	if err != nil {
		return err
	}
	ctx, stop := s.Context()
	defer stop()
	return c.kept(ctx, s, run, true, func(_ *workroom, r *triage.Run) error {
		said := ""
		err := r.Ask(ctx, n, c.Question, func(e agent.Event) {
			switch e.Kind {
			case agent.EventText:
				said += e.Text
				s.Say(e.Text)
			case agent.EventCall:
				s.Note("%s %s", e.Call.Tool, humanize.Clipped(string(e.Call.Arguments), 100))
			}
		})
		if said != "" && !strings.HasSuffix(said, "\n") {
			s.Blank()
		}
		if ctx.Err() != nil {
			return exit.Interrupted
		}
		return noRun(err)
	})
}

type feedbackCmd struct {
	Name    string `arg:"" name:"error" help:"The error: RUN#2, last#2, or its key (decant triage runs --errors)."`
	Verdict string `arg:"" enum:"right,wrong" help:"right or wrong. Later investigations are not told what was wrong."`
	flags
}

// Help describes what the flags do not.
func (c *feedbackCmd) Help() string {
	return `Example:

    decant triage feedback last#2 wrong`
}

// Run records a person's verdict on a finding.
func (c *feedbackCmd) Run(s *process.Process) error {
	return c.archived(s, func(ctx context.Context, room *workroom) error {
		name := c.Name
		if n, ok := strings.CutPrefix(name, "last#"); ok {
			r, err := triage.Open(ctx, room.options, "")
			if err != nil {
				return noRun(err)
			}
			name = r.ID() + "#" + n
		}
		k, err := triage.Judge(ctx, room.options, name, c.Verdict == "right")
		if err != nil {
			return noRun(err)
		}
		s.Note("%s: the finding is called %s", k.Name, c.Verdict)
		return nil
	})
}
