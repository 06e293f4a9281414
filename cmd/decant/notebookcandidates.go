package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/internal/notebook/scan"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/wire"
)

type notebookCandidatesCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Session files. Default: those that Claude Code, Codex and pi keep of the project in the current directory."`
	Since age      `default:"30d" placeholder:"AGE" help:"Only sessions that changed in the last 30d, 12h, ..."`
	All   bool     `help:"Sessions of all projects."`
	Limit int      `default:"20" help:"Print at most this many."`
	JSON  bool     `name:"json" help:"Print JSON."`
}

// Run shows what could become a rule.
func (c *notebookCandidatesCmd) Run(s *streams) error {
	ss, err := sessionChoice{files: c.Files, all: c.All, since: c.Since.since(time.Now())}.read(s)
	if err != nil {
		return err
	}
	found := scan.Candidates(ss)
	patterns := scan.Patterns(ss)
	if c.JSON {
		return writeJSON(s.out, struct {
			Sessions   int              `json:"sessions"`
			Candidates []scan.Candidate `json:"candidates"`
			Patterns   []scan.Pattern   `json:"patterns"`
		}{len(ss), found, patterns})
	}
	return writeCandidates(s.out, len(ss), found, patterns, c.Limit)
}

// writeCandidates prints candidates and patterns for people.
func writeCandidates(w io.Writer, sessions int, found []scan.Candidate, patterns []scan.Pattern, limit int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s.\n", report.Count(len(found), "candidate"), report.Count(sessions, "session"))
	for _, c := range found[:min(limit, len(found))] {
		fmt.Fprintf(&b, "\n%s\n    %s\n", report.Visible(c.Text), reason(&c))
		for _, e := range c.Evidence[:min(3, len(c.Evidence))] {
			fmt.Fprintf(&b, "    %s m%d  %s\n", shortID(&e), e.Message, report.Visible(e.Quote))
		}
	}
	if n := len(found) - limit; n > 0 {
		fmt.Fprintf(&b, "\n%d more: --limit %d shows them all.\n", n, len(found))
	}
	if len(patterns) > 0 {
		b.WriteString("\nProcedures that repeat:\n")
	}
	for _, p := range patterns[:min(5, len(patterns))] {
		fmt.Fprintf(&b, "    %s  (%d times in %s)\n", strings.Join(p.Steps, ", then "), p.Count, report.Count(p.Sessions, "session"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// reason says in a phrase why something is a candidate.
func reason(c *scan.Candidate) string {
	where := "in 1 session"
	if c.Sessions > 1 {
		where = fmt.Sprintf("in %d sessions", c.Sessions)
	}
	switch c.Kind {
	case scan.Correction:
		return "you corrected this " + where
	case scan.Order:
		return "you said that this holds " + where
	}
	return "you asked for this " + where
}

// shortID returns what a session is called in one column.
func shortID(e *scan.Evidence) string {
	id := cmp.Or(e.Session, strings.TrimSuffix(filepath.Base(e.File), ".jsonl"))
	return id[:min(8, len(id))]
}

// A sessionChoice says which recorded sessions to read.
type sessionChoice struct {
	files []string // these alone; none: those in the agents' homes
	all   bool     // of all projects, else of that in the current directory
	since time.Time
}

// read reads the sessions, oldest first. A file that cannot be read is reported and left out.
func (r sessionChoice) read(s *streams) (out []scan.Session, err error) {
	found, err := r.found()
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, inputError{r.none()}
	}
	err = s.working(fmt.Sprintf("reading %s", report.Count(len(found), "session")), func() error {
		out = readSessions(s, found)
		return nil
	})
	if len(out) == 0 && err == nil {
		return nil, inputError{errSkipped}
	}
	slices.SortStableFunc(out, func(a, b scan.Session) int { return a.Start.Compare(b.Start) })
	return out, err
}

// none says why there is nothing to read.
func (r sessionChoice) none() error {
	if r.all {
		return errors.New("found no sessions of Claude Code, Codex or pi from that time: name files, or a longer time with --since 90d")
	}
	return errors.New("found no sessions of Claude Code, Codex or pi of this directory from that time: --all reads those of all projects")
}

// found returns the session files to read.
func (r sessionChoice) found() (out []sessionFile, err error) {
	for _, name := range r.files {
		out = append(out, sessionFile{path: name})
	}
	if len(r.files) > 0 {
		return out, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	homes := sessionHomes(os.Getenv, home)
	for i := range homes {
		files, err := homes[i].files()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if !f.changed.Before(r.since) && (r.all || sameProject(home, dir, f.directory())) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// sameProject reports whether a session in directory there is about the project in here: one is in the other. A
// session in the home directory, or above it, is about nothing in particular.
func sameProject(home, here, there string) bool {
	return there != "" && (inside(here, there) || inside(there, here) && !inside(there, home))
}

// inside reports whether b is a directory in a, or a itself.
func inside(a, b string) bool {
	rel, err := filepath.Rel(a, b)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// readSessions reads files, as many at a time as there are processors. Each is let go before the next is read.
func readSessions(s *streams, files []sessionFile) []scan.Session {
	read := make([]*scan.Session, len(files))
	var failed sync.Mutex
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range files {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			one, err := readSession(s, &files[i])
			if err != nil {
				failed.Lock()
				defer failed.Unlock()
				s.warn(err)
				return
			}
			read[i] = &one
		})
	}
	wg.Wait()
	var out []scan.Session
	for _, one := range read {
		if one != nil {
			out = append(out, *one)
		}
	}
	return out
}

func readSession(s *streams, f *sessionFile) (scan.Session, error) {
	doc, err := s.document(f.path, string(f.format))
	if err != nil {
		return scan.Session{}, err
	}
	if f.format == "" && !slices.Contains([]wire.Format{wire.ClaudeCode, wire.Codex, wire.Pi}, doc.Format) {
		return scan.Session{}, inputError{fmt.Errorf("%s: a request of the %s format, not the session file of an agent: who typed what is not in it", f.path, doc.Format)}
	}
	one := scan.Read(doc.Conversation)
	one.File, one.Project = f.path, f.directory()
	one.ID = cmp.Or(one.ID, f.id)
	return one, nil
}
