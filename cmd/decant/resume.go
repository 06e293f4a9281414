package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/wire"
)

// resume compacts a session in place. The original file stays beside it.
func (c *compactCmd) resume(s *process.Process) error {
	f, home, err := c.session(s)
	if err != nil {
		return err
	}
	c.File = f.path
	was, err := os.Stat(f.path)
	if err != nil {
		return exit.Input(err)
	}
	r, err := c.read(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "session %s of %s, %s\n", f.id, f.format, f.path)
	if err := c.tell(s, r); err != nil || c.DryRun || !r.Changed {
		return err
	}
	out, err := r.Bytes()
	if err != nil {
		return err
	}
	if is, err := os.Stat(f.path); err != nil || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
		return fmt.Errorf("%s changed meanwhile and was left alone: end the agent first", f.path)
	}
	backup, err := backUp(f.path, time.Now())
	if err != nil {
		return err
	}
	err = process.ReplaceFile(f.path, func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	fmt.Fprintf(s.Err, "resume it: %s\nbackup:    %s\n", home.resuming(&f), backup)
	return nil
}

// session finds the requested session and its agent.
func (c *compactCmd) session(s *process.Process) (sessionFile, *sessionHome, error) {
	dir, err := userdir.Home(s.Getenv)
	if err != nil {
		return sessionFile{}, nil, fmt.Errorf("find the home directory: %w", err)
	}
	here, err := s.Abs(".")
	if err != nil {
		return sessionFile{}, nil, fmt.Errorf("find the working directory: %w", err)
	}
	homes := sessionHomes(s.Getenv, dir)
	f, err := findSession(homes, c.Resume, wire.Format(c.From), here)
	if err != nil {
		return sessionFile{}, nil, exit.Input(err)
	}
	for i := range homes {
		if homes[i].format == f.format {
			return f, &homes[i], nil
		}
	}
	return sessionFile{}, nil, errors.New("a session without an agent")
}

// resuming returns the command that resumes a session.
func (h *sessionHome) resuming(f *sessionFile) string {
	what := f.id
	if h.format == wire.Pi {
		what = f.path
	}
	if dir := f.directory(); dir != "" && h.format == wire.ClaudeCode { // Claude Code looks in the directory in which it is started
		return fmt.Sprintf("cd %s && %s %s", shellWord(dir), h.command, shellWord(what))
	}
	return h.command + " " + shellWord(what)
}

// backUp keeps the original file beside it under a name that no agent takes for a session, and returns that
// name. It copies the content only if the file system cannot give a file two names.
func backUp(path string, now time.Time) (string, error) {
	stamp := path + now.UTC().Format(".20060102T150405Z")
	for n := 1; ; n++ {
		name := stamp + ".bak"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.bak", stamp, n)
		}
		err := os.Link(path, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = copyFile(path, name)
		}
		switch {
		case err == nil:
			return name, nil
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("back up: %w", err)
		}
	}
}

// copyFile copies a file to a new file.
func copyFile(from, to string) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	return errors.Join(err, f.Close())
}

// shellWord returns s as a shell reads it back.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
