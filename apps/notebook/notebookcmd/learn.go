package notebookcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/sessionfile"
)

type learnCmd struct {
	Files      []string    `arg:"" optional:"" name:"file" help:"Session files, or Markdown files: CLAUDE.md, AGENTS.md, DONE.md. Default: sessions of this repository that changed since they were last read."`
	Since      command.Age `placeholder:"AGE" help:"Also read sessions again that changed in the last 30d, 12h, ..."`
	Checkpoint bool        `help:"The sessions are about to be compacted: record their state in CONTEXT_ARCHIVE.md."`
	flags
}

// Run learns from sessions and imports Markdown files.
func (c *learnCmd) Run(s *process.Process) error {
	return c.changing(s, func(ctx context.Context, b *notebook.Book) (func() error, error) {
		var sessions []string
		for _, name := range c.Files {
			if !strings.EqualFold(filepath.Ext(name), ".md") {
				sessions = append(sessions, name)
				continue
			}
			if err := importFile(ctx, s, b, name); err != nil {
				return nil, exit.Input(fmt.Errorf("%s: %w", name, err))
			}
		}
		if len(c.Files) > 0 && len(sessions) == 0 {
			return func() error { return nil }, nil
		}
		l, err := learn(ctx, s, b, sessions, c.Since.Since(time.Now()))
		for _, name := range sessions {
			if err == nil && c.Checkpoint {
				err = c.checkpoint(ctx, s, b, &sessionfile.File{Path: name})
			}
		}
		return func() error {
			if c.JSON {
				return command.WriteJSON(s.Out, l)
			}
			return writeLearned(s, l)
		}, err
	})
}

// mostImport is the size limit of an imported file, in bytes.
const mostImport = 16 << 20

// importFile records what a Markdown file says. The file is not changed.
func importFile(ctx context.Context, s *process.Process, b *notebook.Book, name string) error {
	text, err := plainfile.Read(s.Path(name), mostImport)
	if err != nil {
		return err
	}
	n, err := b.Import(ctx, name, string(text))
	if err == nil {
		s.Note("%s: %s", name, report.Count(n, "new record"))
	}
	return err
}

func writeLearned(s *process.Process, l notebook.Learned) error {
	_, err := fmt.Fprintf(s.Out, "%s read: %s, %s, %s, %s completed\n",
		report.Count(l.Sessions, "session"), report.Count(l.Observations, "new observation"),
		report.Count(l.Confirmations, "confirmation"), report.Count(l.Contradictions, "contradiction"),
		report.Count(l.Tasks, "task"))
	return err
}

// learn lets a notebook learn from session files. Without files it reads the sessions of the repository that
// changed since a time; the zero time means since they were last read.
func learn(ctx context.Context, s *process.Process, b *notebook.Book, files []string, since time.Time) (notebook.Learned, error) {
	var found []sessionfile.File
	for _, name := range files {
		found = append(found, sessionfile.File{Path: name})
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
		own := func(dir string) bool { return b.Owns(ctx, dir) }
		if found, err = recordedSessions(s, own, since); err != nil || len(found) == 0 {
			return notebook.Learned{}, err
		}
	}
	ss := readSessions(s, found)
	if len(ss) == 0 && len(files) > 0 {
		return notebook.Learned{}, exit.Input(errors.New("no session could be read"))
	}
	return b.Learn(ctx, ss)
}

type scanCmd struct {
	// Pour pours a stored conversation after its questions, or shows what it would do.
	Pour func(s *process.Process, db command.DBFlag, session string, dryRun bool) error

	SessionNow   bool `help:"Compact the running session now."`
	Observations bool `help:"Run the weekly scan now: archive observations that were not confirmed for long."`
	Tasks        bool `help:"Run the monthly scan now: archive all but the newest completed tasks."`
	flags
}

// Run scans what is due, or what the flags name.
func (c *scanCmd) Run(s *process.Process) error {
	if c.SessionNow {
		if err := c.session(s); err != nil || !c.Observations && !c.Tasks {
			return err
		}
	}
	return c.changing(s, func(ctx context.Context, b *notebook.Book) (func() error, error) {
		learned, err := learn(ctx, s, b, nil, time.Time{})
		if err != nil {
			return nil, err
		}
		var r notebook.Report
		if c.Observations || c.Tasks {
			r, err = b.Scan(ctx, c.Observations, c.Tasks)
		} else {
			r, err = b.CatchUp(ctx)
		}
		return func() error { return c.write(s, learned, &r) }, err
	})
}

// write prints what a scan did.
func (c *scanCmd) write(s *process.Process, learned notebook.Learned, r *notebook.Report) error {
	if c.JSON {
		return command.WriteJSON(s.Out, r)
	}
	if learned.Sessions > 0 {
		if err := writeLearned(s, learned); err != nil {
			return err
		}
	}
	if len(r.Runs) == 0 {
		fmt.Fprintln(s.Out, "no scan is due")
	}
	for _, run := range r.Runs {
		fmt.Fprintf(s.Out, "%s, due %s: %d escalated, %d archived, %d tasks archived\n",
			run.Schedule, run.Due.Local().Format(time.DateOnly), run.Escalated, run.Archived, run.Tasks)
	}
	if r.Ready > 0 {
		fmt.Fprintf(s.Out, "%s to decide on: decant notebook review\n", report.Count(r.Ready, "observation"))
	}
	return nil
}

// session records the state of the newest session, and pours it if it goes through the gateway.
func (c *scanCmd) session(s *process.Process) error {
	f, err := recordedSession(s, "last")
	if err != nil {
		return err
	}
	if !c.DryRun {
		err := c.book(s, func(ctx context.Context, b *notebook.Book) error { return c.checkpoint(ctx, s, b, &f) })
		if err != nil {
			return err
		}
		s.Note("the state of session %s is in CONTEXT_ARCHIVE.md", f.ID)
	}
	if err := c.Pour(s, c.DBFlag, f.ID, c.DryRun); err != nil {
		s.Warn(err)
		s.Note("a session that does not go through Decant's gateway is compacted by its own client: /compact")
	}
	return nil
}
