package triagecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/process"
)

type runsCmd struct {
	Name   string `arg:"" name:"run" optional:"" help:"A run, or the beginning of its id, or last: print its report. RUN#2: print the evidence of a finding."`
	Errors bool   `help:"List the errors that are known from all runs instead."`
	HTML   string `name:"html" placeholder:"FILE" help:"Write a page instead. It needs no network."`
	JSON   bool   `name:"json" help:"Print JSON."`
	flags
}

// Help describes what the flags do not.
func (c *runsCmd) Help() string {
	return `Examples:

    decant triage runs            # what each run found and cost
    decant triage runs last       # the report of the newest run
    decant triage runs last#2     # the evidence of its second finding
    decant triage runs --errors   # known errors, with their keys

Only RUN#N needs the repositories.`
}

// Run lists the runs, or prints one of them.
func (c *runsCmd) Run(s *process.Process) error {
	switch {
	case c.Errors && c.Name != "":
		return exit.Usage(errors.New("--errors lists what is known from all runs: name no run"))
	case strings.Contains(c.Name, "#"):
		return c.evidence(s)
	case c.Errors:
		return c.archived(s, func(ctx context.Context, room *workroom) error { return c.known(ctx, s, room) })
	case c.Name != "":
		return c.archived(s, func(ctx context.Context, room *workroom) error { return c.report(ctx, s, room) })
	}
	return c.archived(s, func(ctx context.Context, room *workroom) error { return c.list(ctx, s, room) })
}

// list prints all runs.
func (c *runsCmd) list(ctx context.Context, s *process.Process, room *workroom) error {
	all, err := triage.Runs(ctx, room.options, 100)
	if err != nil {
		return err
	}
	switch {
	case c.HTML != "":
		return s.Output(c.HTML, func(w io.Writer) error { return deliver.WriteHistory(w, past(all)) })
	case c.JSON:
		return command.WriteJSON(s.Out, all)
	}
	if len(all) == 0 {
		s.Note("no runs are kept here yet: decant triage run. One with --sandbox is kept only where you name --db FILE")
	}
	for _, r := range all {
		state := ""
		if !r.Done {
			state = " (not finished: decant triage run --resume)"
		}
		fmt.Fprintf(s.Out, "%s  %s  %s tokens, $%.4f%s\n", r.Run, r.Headline, humanize.Thousands(r.Totals.Tokens), r.Totals.USD, state)
	}
	return nil
}

// past returns runs as a page shows them.
func past(all []triage.Summary) (out []deliver.Past) {
	for i := range all {
		out = append(out, deliver.Past{Run: all[i].Run, Began: all[i].Began, Headline: all[i].Headline, Totals: all[i].Totals})
	}
	return out
}

// report prints the report of a run. With settings and repositories at hand, the lines that it quotes are links.
func (c *runsCmd) report(ctx context.Context, s *process.Process, room *workroom) error {
	silent := *s
	silent.In = nil // the settings are optional here, so do not ask about them
	if set, err := c.settings(&silent); err == nil {
		room.set = set
	}
	taken, id, err := c.find(ctx, s, room, c.Name)
	if err != nil {
		return err
	}
	room.options.Code, _ = c.reader(s, taken, room)
	r, err := triage.Open(ctx, room.options, id)
	if err != nil {
		return noRun(err)
	}
	if c.HTML != "" && !c.JSON {
		return s.Output(c.HTML, r.Report().WriteHTML)
	}
	return printed(s, r.Report(), c.JSON, c.HTML)
}

// known prints what is known of errors.
func (c *runsCmd) known(ctx context.Context, s *process.Process, room *workroom) error {
	all, err := triage.Knowledge(ctx, room.options)
	if err != nil {
		return err
	}
	if c.JSON {
		return command.WriteJSON(s.Out, all)
	}
	for _, k := range all {
		fmt.Fprintf(s.Out, "%s  %s, last %s\n", k.Key, k.Name, k.Last.UTC().Format("2006-01-02"))
		if f := k.Found; f != nil {
			judged := map[string]string{"yes": ", called right", "no": ", called wrong"}[f.Right]
			if by := k.JudgedBy(); by != "" {
				judged += ": " + by
			}
			fmt.Fprintf(s.Out, "    %s (%s confidence, %s#%d%s)\n", f.Cause, f.Confidence, f.Run, f.Number, judged)
		}
	}
	return nil
}

// around is how many lines are printed on both sides of a piece of evidence.
const around = 4

// evidence prints the code around each line that a finding quotes, and what was struck from it.
func (c *runsCmd) evidence(s *process.Process) error {
	run, n, err := numbered(c.Name)
	if err != nil {
		return err
	}
	ctx, stop := s.Context()
	defer stop()
	return c.kept(ctx, s, run, false, func(room *workroom, r *triage.Run) error {
		e := r.Report().Found(n)
		if e == nil {
			return exit.Input(fmt.Errorf("run %s did not investigate an error %d: decant triage runs %s", r.ID(), n, r.ID()))
		}
		f := e.Finding
		fmt.Fprintf(s.Out, "%s\n%s\n", e.Name(), f.Cause)
		for i := range f.Evidence {
			v := &f.Evidence[i]
			a, err := room.reader.ReadFile(ctx, code.Version{Repo: v.Repo, SHA: v.SHA}, v.Path, v.Line-around, v.Line+around)
			if err != nil {
				return exit.Input(err)
			}
			fmt.Fprintf(s.Out, "\n%s\n%s", v.Says, pointed(a.Text, v.Line, v.Line+strings.Count(v.Text, "\n")))
		}
		for i := range f.Struck {
			fmt.Fprintf(s.Out, "\nstruck: %s (%s)\n", f.Struck[i].Said(), f.Struck[i].Why)
		}
		fmt.Fprintf(s.Out, "\nThe investigation: %d answers, %d calls, %s tokens; all of it: decant show %s\n",
			f.Iterations, f.Calls, humanize.Thousands(f.Tokens()), f.Session)
		return nil
	})
}

// pointed marks the lines from..to of a file with numbered lines.
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
