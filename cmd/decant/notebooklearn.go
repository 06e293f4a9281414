package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/internal/notebook/scan"
	"github.com/decantdev/decant/internal/report"
)

type notebookLearnCmd struct {
	Files      []string `arg:"" optional:"" name:"file" help:"Session files. Default: those of this repository that have changed since they were last read."`
	Since      age      `placeholder:"AGE" help:"Also sessions that were read before, if they changed in the last 30d, 12h, ..."`
	Checkpoint bool     `help:"The sessions are about to be compacted: note what they have come to."`
	notebookFlag
}

// Run takes over what sessions say.
func (c *notebookLearnCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		before, err := c.files(ctx, s, b)
		if err != nil {
			return err
		}
		l, err := learn(ctx, s, b, c.Files, c.Since.since(time.Now()))
		if err != nil {
			return err
		}
		if c.Checkpoint {
			if err := c.checkpoint(ctx, s, b); err != nil {
				return err
			}
		}
		if c.JSON {
			return writeJSON(s.out, l)
		}
		if c.DryRun {
			return c.diff(ctx, s, b, before)
		}
		return writeLearned(s, l)
	})
}

// checkpoint notes what the named sessions have come to.
func (c *notebookLearnCmd) checkpoint(ctx context.Context, s *streams, b *notebook.Book) error {
	for _, name := range c.Files {
		if err := c.archive(ctx, s, b, &sessionFile{path: name}); err != nil {
			return err
		}
	}
	return nil
}

func writeLearned(s *streams, l notebook.Learned) error {
	_, err := fmt.Fprintf(s.out, "%s read: %s, %s, %s, %s completed\n", report.Count(l.Sessions, "session"), report.Count(l.Observations, "new observation"),
		report.Count(l.Confirmations, "confirmation"), report.Count(l.Contradictions, "contradiction"), report.Count(l.Tasks, "task"))
	return err
}

// learn lets a notebook learn from session files; from none: from those of its repository that have changed since a time, or
// since they were last read if it is zero.
func learn(ctx context.Context, s *streams, b *notebook.Book, files []string, since time.Time) (notebook.Learned, error) {
	var found []sessionFile
	for _, name := range files {
		found = append(found, sessionFile{path: name})
	}
	if len(files) == 0 {
		state, err := b.State(ctx)
		if err != nil {
			return notebook.Learned{}, err
		}
		if since.IsZero() {
			if since = state.Read; since.IsZero() {
				since = state.Since
			}
		}
		if found, err = ownSessions(ctx, b, since); err != nil || len(found) == 0 {
			return notebook.Learned{}, err
		}
	}
	ss := readSessions(s, found)
	if len(ss) == 0 && len(files) > 0 {
		return notebook.Learned{}, inputError{errors.New("no session could be read")}
	}
	return b.Learn(ctx, ss)
}

// ownSessions returns the files of the sessions in a notebook's repository that have changed since a time.
func ownSessions(ctx context.Context, b *notebook.Book, since time.Time) (out []sessionFile, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	homes := sessionHomes(os.Getenv, home)
	own := map[string]bool{}
	for i := range homes {
		files, err := homes[i].files()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.changed.Before(since) {
				continue
			}
			dir := f.directory()
			is, known := own[dir]
			if !known {
				is = b.Owns(ctx, dir)
				own[dir] = is
			}
			if is {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// why says in a phrase why somebody is asked about an observation.
func why(r *record.Record) string {
	where := "in " + report.Count(max(1, r.Asked), "session")
	switch r.Offer {
	case string(scan.Correction):
		return "you corrected this " + where
	case string(scan.Order):
		return "you said that this holds " + where
	case string(scan.Request):
		return "you asked for this or the like " + where
	case record.Procedure, record.FromFile:
		if r.Shares != "" {
			return strings.TrimSuffix("it is shared in .decant/shared.jsonl: "+r.Why, ": ")
		}
		return r.Why
	}
	return "confirmed " + report.Count(r.Times, "time") + " in " + report.Count(r.Sessions(), "session")
}

// writeOffer prints an observation with its evidence.
func writeOffer(s *streams, r *record.Record) {
	fmt.Fprintf(s.out, "%s %s\n    %s\n", r.ID, report.Visible(r.Text), why(r))
	for _, q := range r.Quotes {
		fmt.Fprintf(s.out, "    %s\n", report.Visible(q))
	}
	for _, c := range r.Confirmations[max(0, len(r.Confirmations)-5):] {
		fmt.Fprintf(s.out, "    confirmed %s “%s”\n", c.Time.Local().Format(time.DateOnly), report.Visible(c.Evidence))
	}
}
