package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/internal/notebook/hook"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
)

type notebookHookCmd struct {
	Event  string `arg:"" help:"The event: SessionStart, PreCompact, Stop or SessionEnd."`
	Tokens int    `default:"1500" help:"What a new session is told at most, in tokens."`
	dbFlag
}

// Run answers the hook. Whatever fails is said on standard error only: a hook must not stop an agent.
func (c *notebookHookCmd) Run(s *streams) error {
	var opened *sqlite.DB
	done := make(chan error, 1)
	ctx := context.Background()
	go func() {
		done <- hook.Run(ctx, c.Event, s.in, s.out, c.Tokens, func(ctx context.Context, dir string) (hook.Book, error) {
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
	case <-time.After(hook.Patient):
		fmt.Fprintf(s.err, "decant: hook %s was given up after %s\n", c.Event, hook.Patient)
	}
	return nil
}

// book returns the notebook of a folder, and the database that it is in.
func (c *notebookHookCmd) book(ctx context.Context, dir string) (hook.Book, *sqlite.DB, error) {
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
	return hook.Memories{
		Store: db, Tenant: tenant, Scopes: []memory.Scope{{Level: memory.Project, Name: root}, {Level: memory.User}}, Count: token.For(token.Model{}).Count,
	}, db, nil
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
