package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/group"
	"github.com/decantdev/decant/internal/triage/report"
)

type triageReportCmd struct {
	ID   string `arg:"" name:"run" optional:"" default:"last" help:"The run, or the beginning of its id (${default})."`
	HTML string `name:"html" placeholder:"FILE" help:"Write a page instead. It needs no network."`
	JSON bool   `name:"json" help:"Print JSON."`
	triageFlags
}

// Run prints the report of a run.
func (c *triageReportCmd) Run(s *streams) error {
	return c.archived(func(ctx context.Context, room *triageRoom) error {
		silent := *s
		silent.in = nil // settings are not needed, so nobody is asked about them
		if set, err := c.settings(&silent); err == nil {
			room.set = set
		}
		r, err := triage.Open(ctx, room.options, latest(c.ID))
		if err != nil {
			return noRun(err)
		}
		if taken, err := sampled(r.Sample()); err == nil { // repositories are not needed: lines are links where they are known
			room.options.Code, _ = c.reader(taken, room)
		}
		if r, err = triage.Open(ctx, room.options, r.ID()); err != nil {
			return noRun(err)
		}
		if c.HTML != "" && !c.JSON {
			return s.output(c.HTML, r.Report().WriteHTML)
		}
		return printed(s, r.Report(), c.JSON, c.HTML)
	})
}

type triageRunsCmd struct {
	JSON bool   `name:"json" help:"Print JSON."`
	HTML string `name:"html" placeholder:"FILE" help:"Write a page instead, with the tokens for each error drawn over the runs. It needs no network."`
	triageFlags
}

// Run lists the runs.
func (c *triageRunsCmd) Run(s *streams) error {
	return c.archived(func(ctx context.Context, room *triageRoom) error {
		all, err := triage.Runs(ctx, room.options, 100)
		if err != nil {
			return err
		}
		if c.HTML != "" || c.JSON {
			return printRuns(s, all, c.HTML)
		}
		if len(all) == 0 {
			s.note("no runs are kept here yet: decant triage run")
		}
		for _, r := range all {
			state := ""
			if !r.Done {
				state = " (not finished: decant triage run --resume)"
			}
			fmt.Fprintf(s.out, "%s  %s  %s tokens, $%.4f%s\n", r.Run, r.Headline, figure.Thousands(r.Totals.Tokens), r.Totals.USD, state)
		}
		return nil
	})
}

type triageWhyCmd struct {
	Name string `arg:"" name:"run#n" help:"The error of a run: RUN#2, or last#2."`
	triageFlags
}

// around is how many lines are shown on both sides of a piece of evidence.
const around = 4

// Run shows what a finding rests on.
func (c *triageWhyCmd) Run(s *streams) error {
	run, n, err := numbered(c.Name)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	return c.kept(ctx, s, run, false, func(room *triageRoom, r *triage.Run) error {
		e, err := found(r, n)
		if err != nil {
			return err
		}
		f := e.Finding
		fmt.Fprintf(s.out, "%s\n%s\n", e.Name(), f.Cause)
		for i := range f.Evidence {
			v := &f.Evidence[i]
			a, err := room.reader.ReadFile(ctx, code.Version{Repo: v.Repo, SHA: v.SHA}, v.Path, v.Line-around, v.Line+around)
			if err != nil {
				return inputError{err}
			}
			fmt.Fprintf(s.out, "\n%s\n%s", v.Says, pointed(a.Text, v.Line, v.Line+strings.Count(v.Text, "\n")))
		}
		for i := range f.Struck {
			fmt.Fprintf(s.out, "\nstruck: %s (%s)\n", f.Struck[i].Said(), f.Struck[i].Why)
		}
		fmt.Fprintf(s.out, "\nThe investigation: %d answers, %d calls, %s tokens; all of it: decant show %s\n", f.Iterations, f.Calls, figure.Thousands(f.Tokens()), f.Session)
		return nil
	})
}

// pointed marks lines of a file as it was read.
func pointed(text string, from, to int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		n := 0
		if _, err := fmt.Sscanf(l, "%d:\t", &n); err == nil && n >= from && n <= to {
			b.WriteString(">" + l[1:])
			continue
		}
		b.WriteString(l)
	}
	return b.String()
}

// found returns an error of a run that was investigated.
func found(r *triage.Run, n int) (*report.Error, error) {
	rep := r.Report()
	for i := range rep.Errors {
		if e := &rep.Errors[i]; e.Number == n && e.Finding != nil {
			return e, nil
		}
	}
	return nil, inputError{fmt.Errorf("run %s has investigated no error %d: decant triage report %s", r.ID(), n, r.ID())}
}

type triageAskCmd struct {
	Name     string `arg:"" name:"run#n" help:"The error of a run: RUN#2, or last#2."`
	Question string `arg:"" help:"What you want to know."`
	triageFlags
}

// Run asks the agent that has investigated an error, in a fork of its session: the investigation stays as it is.
func (c *triageAskCmd) Run(s *streams) error {
	run, n, err := numbered(c.Name)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	return c.kept(ctx, s, run, true, func(_ *triageRoom, r *triage.Run) error {
		said := ""
		err := r.Ask(ctx, n, c.Question, func(e agent.Event) {
			switch e.Kind {
			case agent.EventText:
				said += e.Text
				s.say(e.Text)
			case agent.EventCall:
				s.note("%s %s", e.Call.Tool, clipped(string(e.Call.Arguments), 100))
			}
		})
		if said != "" && !strings.HasSuffix(said, "\n") {
			s.blank()
		}
		if ctx.Err() != nil {
			return exitStatus(128 + int(syscall.SIGINT))
		}
		return noRun(err)
	})
}

type triageKnowledgeCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
	triageFlags
}

// Run lists what is known of errors.
func (c *triageKnowledgeCmd) Run(s *streams) error {
	return c.archived(func(ctx context.Context, room *triageRoom) error {
		all, err := triage.Knowledge(ctx, room.options)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(s.out, all)
		}
		for _, k := range all {
			fmt.Fprintf(s.out, "%s  %s, last %s\n", k.Key, k.Name, k.Last.UTC().Format("2006-01-02"))
			if f := k.Found; f != nil {
				judged := map[string]string{"yes": ", called right", "no": ", called wrong"}[f.Right] + judgedBy(k)
				fmt.Fprintf(s.out, "    %s (%s confidence, %s#%d%s)\n", f.Cause, f.Confidence, f.Run, f.Number, judged)
			}
		}
		return nil
	})
}

type triageFeedbackCmd struct {
	Name    string `arg:"" name:"error" help:"The error: its key (decant triage knowledge), RUN#2, or last#2."`
	Verdict string `arg:"" enum:"right,wrong" help:"right or wrong. What was wrong is not told to later investigations."`
	triageFlags
}

// Run notes what a person says of a finding.
func (c *triageFeedbackCmd) Run(s *streams) error {
	return c.archived(func(ctx context.Context, room *triageRoom) error {
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
		s.note("%s: what was found is called %s", k.Name, c.Verdict)
		return nil
	})
}

// judgedBy says where the judgement of what was found last is known from; empty: a person has typed it, or there is none.
func judgedBy(k *group.Known) string {
	for _, j := range k.Judged {
		if j.Run == k.Found.Run && j.Number == k.Found.Number && j.By != "feedback" {
			return ": " + j.By
		}
	}
	return ""
}
