package notebookcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/apps/notebook/internal/mcpserver"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// MCP is the command line of decant mcp.
type MCP struct {
	Write   bool   `help:"Also offer tools that write: observe, confirm, remember, forget and pour."`
	Project string `placeholder:"DIR" help:"Serve the rules and memories of the project in this folder. Default: the working directory."`
	command.CatalogFlag
	command.DBFlag
}

// Run serves until standard input ends.
func (c *MCP) Run(s *process.Process) error {
	scope, err := projectScope(s, c.Project)
	if err != nil {
		return err
	}
	own, err := notebook.ScopeOf(s.Path(cmp.Or(c.Project, ".")))
	if err != nil {
		return err
	}
	o := opener{process: s, flags: &c.DBFlag}
	server := mcpserver.New(mcpserver.Options{
		Open:  func(ctx context.Context) (mcpserver.Store, string, error) { return o.open(ctx) },
		Scope: scope, Notebook: own, Read: []memory.Scope{own, scope, {Level: memory.User}}, Write: c.Write, Version: s.Version,
		Pour: func(ctx context.Context, k store.Key, focus string) (string, error) { return c.pour(ctx, &o, k, focus) },
	})
	err = server.Run(context.Background(), mcpserver.Stdio(s.In, s.Out))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, o.close())
}

// projectScope returns the scope of a project's memories. An empty folder is the working directory.
func projectScope(s *process.Process, dir string) (memory.Scope, error) {
	root, err := rootOf(s, dir)
	return memory.Scope{Level: memory.Project, Name: root}, err
}

// An opener opens the database on first use, so that a server can start before the database exists.
type opener struct {
	process *process.Process
	flags   *command.DBFlag
	mu      sync.Mutex
	db      store.Store
	tenant  string
}

// open returns the database and the tenant.
func (o *opener) open(ctx context.Context) (store.Store, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.db != nil {
		return o.db, o.tenant, nil
	}
	db, err := o.flags.Open(ctx, o.process)
	if err != nil {
		return nil, "", err
	}
	tenant, err := o.flags.Tenant.One(ctx, db)
	if err != nil {
		return nil, "", errors.Join(err, db.Close())
	}
	o.db, o.tenant = db, tenant
	return db, tenant, nil
}

func (o *opener) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.db == nil {
		return nil
	}
	return o.db.Close()
}

// pour pours a conversation and returns the result in words.
func (c *MCP) pour(ctx context.Context, o *opener, k store.Key, focus string) (string, error) {
	db, _, err := o.open(ctx)
	if err != nil {
		return "", err
	}
	catalog, err := c.Models(o.process)
	if err != nil {
		return "", err
	}
	e, err := c.Engine(o.process, db, catalog, 0, "")
	if err != nil {
		return "", err
	}
	change, err := e.Pour(ctx, k, focus)
	switch {
	case errors.Is(err, decant.ErrNothing):
		return "There is nothing worth leaving out of conversation " + k.ID + " now.", nil
	case err != nil:
		return "", err
	}
	if err := command.Apply(ctx, e, db, change, command.Changed(o.process, "pour", k, change)); err != nil {
		return "", err
	}
	return fmt.Sprintf("Poured conversation %s: %d -> %d tokens of messages. %s.", k.ID, change.Plan.Before.Messages, change.Plan.After.Messages, command.TakesEffect), nil
}
