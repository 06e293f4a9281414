package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
)

type notebookScanCmd struct {
	Weekly  bool `help:"Make the scan of a Sunday now."`
	Monthly bool `help:"Make the scan of the 1st now."`
	notebookFlag
}

// Run makes scans.
func (c *notebookScanCmd) Run(s *streams) error { return c.scan(s, c.Weekly, c.Monthly) }

// scan makes the scans that are due, or those that are named.
func (f *notebookFlag) scan(s *streams, weekly, monthly bool) error {
	return f.book(func(ctx context.Context, b *notebook.Book) error {
		before, err := f.files(ctx, s, b)
		if err != nil {
			return err
		}
		learned, err := learn(ctx, s, b, nil, time.Time{})
		if err != nil {
			return err
		}
		do := b.CatchUp
		if weekly || monthly {
			do = func(ctx context.Context) (notebook.Report, error) { return b.Scan(ctx, weekly, monthly) }
		}
		r, err := do(ctx)
		if err != nil {
			return err
		}
		if f.JSON {
			return writeJSON(s.out, r)
		}
		if f.DryRun {
			return f.diff(ctx, s, b, before)
		}
		if learned.Sessions > 0 {
			if err := writeLearned(s, learned); err != nil {
				return err
			}
		}
		if len(r.Runs) == 0 {
			fmt.Fprintln(s.out, "no scan is due")
		}
		for _, run := range r.Runs {
			fmt.Fprintf(s.out, "%s, due %s: %d escalated, %d archived, %d tasks archived\n", run.Schedule, run.Due.Local().Format(time.DateOnly), run.Escalated, run.Archived, run.Tasks)
		}
		if r.Ready > 0 {
			fmt.Fprintf(s.out, "%s for a yes: decant notebook review\n", report.Count(r.Ready, "observation"))
		}
		return nil
	})
}

type notebookCompactCmd struct {
	SessionNow   bool `help:"Compact the running session."`
	Observations bool `help:"Archive observations that nobody has confirmed for long."`
	Tasks        bool `help:"Archive completed tasks but the newest."`
	notebookFlag
}

// Run archives what is named.
func (c *notebookCompactCmd) Run(s *streams) error {
	if !c.SessionNow && !c.Observations && !c.Tasks {
		return usageError{errors.New("say what: --session-now, --observations, --tasks or several")}
	}
	if c.SessionNow {
		if err := c.session(s); err != nil {
			return err
		}
	}
	if !c.Observations && !c.Tasks {
		return nil
	}
	return c.scan(s, c.Observations, c.Tasks)
}

// session notes what the newest recorded session has come to, and pours it if it goes through the gateway.
func (c *notebookCompactCmd) session(s *streams) error {
	f, err := recordedSession("last")
	if err != nil {
		return err
	}
	if !c.DryRun {
		err := c.book(func(ctx context.Context, b *notebook.Book) error { return c.archive(ctx, s, b, &f) })
		if err != nil {
			return err
		}
		s.note("what session %s has come to stands in CONTEXT_ARCHIVE.md", f.id)
	}
	pour := pourCmd{}
	pour.dbFlag, pour.Session, pour.DryRun = c.dbFlag, f.id, c.DryRun
	if err := pour.Run(s); err != nil {
		s.warn(err)
		s.note("a session that does not go through Decant's gateway is compacted by its own client: /compact")
	}
	return nil
}

type notebookReviewCmd struct{ notebookFlag }

const reviewHelp = "y - make it a rule\nn - it is no rule\ne - change its text, then make it a rule\ns - ask again another time\nq - stop here\n? - print this\n"

// Run asks about each observation that waits for a yes. Without a terminal it lists them.
func (c *notebookReviewCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		offered, err := b.Offered(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return c.print(s, offered)
		}
		if len(offered) == 0 {
			_, err = fmt.Fprintln(s.out, "nothing waits for a yes")
			return err
		}
		in := bufio.NewReader(s.in)
		for _, r := range offered {
			writeOffer(s, r)
			if !s.asks() || c.DryRun {
				continue
			}
			if stop, err := reviewOne(ctx, s, in, b, r.ID); stop || err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *notebookReviewCmd) print(s *streams, offered []*record.Record) error {
	items := []memory.Item{}
	for _, r := range offered {
		it, err := r.Packed()
		if err != nil {
			return err
		}
		items = append(items, it)
	}
	return writeJSON(s.out, items)
}

// reviewOne asks about one observation, and reports whether the user wants to stop.
func reviewOne(ctx context.Context, s *streams, in *bufio.Reader, b *notebook.Book, id string) (stop bool, err error) {
	for {
		fmt.Fprint(s.err, "Make this a rule [y,n,e,s,q,?]? ")
		answer, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		switch strings.TrimSpace(answer) {
		case "y":
			_, err = b.Accept(ctx, id, "", "")
			return false, err
		case "n":
			_, err = b.Refuse(ctx, id)
			return false, err
		case "e":
			fmt.Fprint(s.err, "New text: ")
			text, err := in.ReadString('\n')
			if text = strings.TrimSpace(text); err != nil || text == "" {
				continue
			}
			_, err = b.Accept(ctx, id, text, "")
			return false, err
		case "s":
			return false, nil
		case "q":
			return true, nil
		default:
			fmt.Fprint(s.err, reviewHelp)
		}
	}
}

// quoteShell returns a path as a shell reads it.
func quoteShell(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
