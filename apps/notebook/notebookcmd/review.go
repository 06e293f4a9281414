package notebookcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
)

type reviewCmd struct{ flags }

const reviewHelp = "y - make it a rule\nn - do not make it a rule\ne - change its text, then make it a rule\ns - ask again another time\nq - stop here\n? - print this\n"

// Run asks about each observation that may become a rule. Without a terminal it lists them.
func (c *reviewCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		offered, err := b.Offered(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeOffers(s, offered)
		}
		if len(offered) == 0 {
			return s.Say("nothing to review\n")
		}
		in := bufio.NewReader(s.In)
		for _, r := range offered {
			writeOffer(s, r)
			if !s.Asks() || c.DryRun {
				continue
			}
			if stop, err := reviewOne(ctx, s, in, b, r.ID); stop || err != nil {
				return err
			}
		}
		if !s.Asks() {
			s.Note("Nothing was decided. Run decant notebook review at a terminal to answer.")
		}
		return nil
	})
}

// writeOffers prints observations as JSON.
func writeOffers(s *process.Process, offered []*notebook.Record) error {
	items := []memory.Item{}
	for _, r := range offered {
		it, err := r.Packed()
		if err != nil {
			return err
		}
		items = append(items, it)
	}
	return command.WriteJSON(s.Out, items)
}

// writeOffer prints an observation with its evidence.
func writeOffer(s *process.Process, r *notebook.Record) {
	fmt.Fprintf(s.Out, "%s %s\n    %s\n", r.ID, report.Visible(r.Text), whyOffered(r))
	for _, q := range r.Quotes {
		fmt.Fprintf(s.Out, "    %s\n", report.Visible(q))
	}
	for _, c := range r.Confirmations[max(0, len(r.Confirmations)-5):] {
		fmt.Fprintf(s.Out, "    confirmed %s “%s”\n", c.Time.Local().Format(time.DateOnly), report.Visible(c.Evidence))
	}
}

// whyOffered returns in a phrase why an observation may become a rule.
func whyOffered(r *notebook.Record) string {
	where := "in " + report.Count(max(1, r.Asked), "session")
	switch r.Offer {
	case string(scan.Correction):
		return "you corrected this " + where
	case string(scan.Order):
		return "you made this a standing order " + where
	case string(scan.Request):
		return "you asked for this or something similar " + where
	case notebook.Procedure, notebook.FromFile:
		if r.Shares != "" {
			return strings.TrimSuffix("shared in .decant/shared.jsonl: "+r.Why, ": ")
		}
		return r.Why
	}
	return "confirmed " + report.Count(r.Times, "time") + " in " + report.Count(r.Sessions(), "session")
}

// reviewOne asks about one observation. It reports whether the user wants to stop.
func reviewOne(ctx context.Context, s *process.Process, in *bufio.Reader, b *notebook.Book, id string) (stop bool, err error) {
	for {
		fmt.Fprint(s.Err, "Make this a rule [y,n,e,s,q,?]? ")
		answer, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		switch strings.TrimSpace(answer) {
		case "y":
			_, err = b.Accept(ctx, id, "")
			return false, err
		case "n":
			_, err = b.Refuse(ctx, id)
			return false, err
		case "e":
			fmt.Fprint(s.Err, "New text: ")
			text, err := in.ReadString('\n')
			if text = strings.TrimSpace(text); err != nil || text == "" {
				continue
			}
			_, err = b.Accept(ctx, id, text)
			return false, err
		case "s":
			return false, nil
		case "q":
			return true, nil
		default:
			fmt.Fprint(s.Err, reviewHelp)
		}
	}
}
