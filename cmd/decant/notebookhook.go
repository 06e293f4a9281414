package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/hook"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

type notebookHookCmd struct {
	Event  string `arg:"" help:"The event: SessionStart, PreCompact, TaskCompleted, Stop or SessionEnd."`
	Tokens int    `default:"1500" help:"What a new session is told at most, in tokens."`
	dbFlag
}

// Run answers the hook. Whatever fails is said on standard error only: a hook must not stop an agent.
func (c *notebookHookCmd) Run(s *streams) error {
	var opened store.Store
	done := make(chan error, 1)
	go func() {
		done <- hook.Run(context.Background(), c.Event, s.in, s.out, c.Tokens, func(ctx context.Context, dir string) (hook.Book, error) {
			b, db, err := c.book(ctx, dir)
			opened = db
			return b, err
		})
	}()
	select {
	case err := <-done:
		if opened != nil {
			err = errors.Join(err, opened.Close())
		}
		if err != nil {
			s.warn(err)
		}
	case <-time.After(hook.Patient + 100*time.Millisecond): // what does not heed its context
		fmt.Fprintf(s.err, "decant: hook %s was given up after %s\n", c.Event, hook.Patient)
	}
	return nil
}

// book returns the notebook of a folder, and the database that it is in.
func (c *notebookHookCmd) book(ctx context.Context, dir string) (hook.Book, store.Store, error) {
	root, err := rootOf(dir)
	if err != nil {
		return nil, nil, err
	}
	db, err := c.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	tenant, err := c.Tenant.one(ctx, db)
	if err != nil {
		return nil, db, err
	}
	b, err := notebook.Open(ctx, notebook.Options{Memories: db, Tenant: tenant, Root: cmp.Or(dir, ".")})
	if err != nil {
		return nil, db, err
	}
	rest := hook.Memories{
		Store: db, Tenant: tenant, Scopes: []memory.Scope{{Level: memory.Project, Name: root}, {Level: memory.User}}, Count: token.For(token.Model{}).Count,
	}
	return &hookBook{book: b, rest: rest, flags: c.dbFlag}, db, nil
}

// A hookBook is a notebook as hooks use it. What takes longer than a hook may is done by a process of its own, which ends
// when it is done.
type hookBook struct {
	book  *notebook.Book
	rest  hook.Memories
	flags dbFlag
}

// Opening implements hook.Book: rules and tasks of the notebook, then what else is remembered.
func (h *hookBook) Opening(ctx context.Context, tokens int) (string, error) {
	text, err := h.book.Opening(ctx, tokens)
	if err != nil {
		return "", err
	}
	more, err := h.rest.Opening(ctx, tokens-h.rest.Count(text))
	return text + more, err
}

// CatchUp implements hook.Book: the scans that are due, and sessions that nobody has read, such as those that crashed.
func (h *hookBook) CatchUp(ctx context.Context) error {
	if begun, err := h.book.Begun(ctx); err != nil || !begun {
		return err
	}
	return h.later("scan")
}

// Checkpoint implements hook.Book.
func (h *hookBook) Checkpoint(ctx context.Context, _, transcript string) error {
	if begun, err := h.book.Begun(ctx); err != nil || !begun {
		return err
	}
	return h.later("learn", "--checkpoint", "--", transcript)
}

// Ended implements hook.Book.
func (h *hookBook) Ended(ctx context.Context, _, transcript string) error {
	if begun, err := h.book.Begun(ctx); err != nil || !begun {
		return err
	}
	return h.later("learn", "--", transcript)
}

// Completed implements hook.Book.
func (h *hookBook) Completed(ctx context.Context, session, task string) error {
	if begun, err := h.book.Begun(ctx); err != nil || !begun {
		return err
	}
	_, err := h.book.Done(ctx, task, record.Task{}, memory.Source{Conversation: session})
	if errors.Is(err, notebook.ErrOff) {
		return nil
	}
	return err
}

// later starts a command of the notebook that goes on after the hook.
func (h *hookBook) later(command string, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	all := []string{"notebook", command, "--dir", h.book.Root()}
	for flag, value := range map[string]string{"--db": h.flags.DB, "--config": h.flags.Config, "--encryption-key-file": h.flags.EncryptionKeyFile, "--tenant": h.rest.Tenant} {
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

// rootOf returns the top of the project that a folder is in, an empty one being the working directory: the folder with .git, or
// else the folder itself.
func rootOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
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
