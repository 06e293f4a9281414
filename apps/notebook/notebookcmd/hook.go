package notebookcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

type openingCmd struct {
	Tokens int `default:"2000" help:"Token limit (${default})."`
	flags
}

// Run prints what the notebook tells a session.
func (c *openingCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		text, err := b.Opening(ctx, c.Tokens)
		return errors.Join(err, s.Say(text))
	})
}

type hookCmd struct {
	Event  string `arg:"" help:"The event: SessionStart, PreCompact, TaskCompleted or SessionEnd."`
	Tokens int    `default:"1500" help:"Token limit of what a new session is told."`
	command.DBFlag
}

// Run answers the hook. Failures go to standard error only: a hook must not stop an agent.
func (c *hookCmd) Run(s *process.Process) error {
	var opened store.Store
	done := make(chan error, 1)
	go func() {
		open := func(ctx context.Context, dir string) (notebook.Hooked, error) {
			h, db, err := c.open(ctx, s, dir)
			opened = db
			return h, err
		}
		done <- notebook.RunHook(context.Background(), c.Event, s.In, s.Out, c.Tokens, open)
	}()
	select {
	case err := <-done:
		if opened != nil {
			err = errors.Join(err, opened.Close())
		}
		if err != nil {
			s.Warn(err)
		}
	case <-time.After(notebook.HookTime + 100*time.Millisecond): // something ignored its context
		fmt.Fprintf(s.Err, "decant: hook %s was given up after %s\n", c.Event, notebook.HookTime)
	}
	return nil
}

// open returns the notebook of a folder and its database, which is nil if it could not be opened.
func (c *hookCmd) open(ctx context.Context, s *process.Process, dir string) (*hookedBook, store.Store, error) {
	root, err := rootOf(s, dir)
	if err != nil {
		return nil, nil, err
	}
	db, err := c.DBFlag.Open(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	tenant, err := c.Tenant.One(ctx, db)
	if err != nil {
		return nil, db, err
	}
	b, err := notebook.Open(notebook.Options{Memories: db, Tenant: tenant, Root: dir})
	besides := []memory.Scope{{Level: memory.Project, Name: root}, {Level: memory.User}}
	return &hookedBook{Book: b, besides: besides, tenant: tenant, flags: c.DBFlag}, db, err
}

// A hookedBook is a notebook as hooks use it.
type hookedBook struct {
	*notebook.Book
	besides []memory.Scope // other scopes that a session is told of
	tenant  string
	flags   command.DBFlag
}

// Opening implements notebook.Hooked.
func (h *hookedBook) Opening(ctx context.Context, tokens int) (string, error) {
	return h.Book.Opening(ctx, tokens, h.besides...)
}

// Completed implements notebook.Hooked.
func (h *hookedBook) Completed(ctx context.Context, session, task string) error {
	if begun, err := h.Begun(ctx); err != nil || !begun {
		return err
	}
	_, err := h.Done(ctx, task, notebook.Task{}, memory.Source{Conversation: session})
	if errors.Is(err, notebook.ErrOff) {
		return nil
	}
	return err
}

// Later implements notebook.Hooked.
func (h *hookedBook) Later(ctx context.Context, command string, args ...string) error {
	if begun, err := h.Begun(ctx); err != nil || !begun {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	all := []string{"notebook", command, "--dir", h.Root()}
	for flag, value := range map[string]string{
		"--db": h.flags.DB, "--config": h.flags.Config, "--encryption-key-file": h.flags.EncryptionKeyFile, "--tenant": h.tenant,
	} {
		if value != "" {
			all = append(all, flag+"="+value)
		}
	}
	c := exec.Command(program, append(all, args...)...)
	detach(c)
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}

// rootOf returns the top of the project that a folder is in: the folder with .git, or else the folder itself.
// An empty name is the working directory.
func rootOf(s *process.Process, dir string) (string, error) {
	dir, err := s.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}
