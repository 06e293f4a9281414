package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

type memoryCmd struct {
	List    memoryListCmd    `cmd:"" help:"List memories." example:"decant memory list --kind rule"`
	Show    memoryShowCmd    `cmd:"" help:"Print a memory and its sources." example:"decant memory show 3f2a"`
	Forget  memoryForgetCmd  `cmd:"" help:"Delete memories without a trace in the database." example:"decant memory forget 3f2a"`
	Restore memoryRestoreCmd `cmd:"" help:"Restore archived memories." example:"decant memory restore 3f2a"`
	Export  memoryExportCmd  `cmd:"" help:"Write all memories with their sources, one JSON object per line." example:"decant memory export -o memories.jsonl"`
}

type memoryListCmd struct {
	Words    []string `arg:"" optional:"" help:"Words to search for; best matches first. Parts of names match too."`
	Session  string   `placeholder:"ID" help:"Only memories that were noted or confirmed in this conversation."`
	Project  string   `placeholder:"NAME" help:"Only memories of this project."`
	Kind     string   `placeholder:"KIND" default:"any" enum:"any,memory,observation,rule,task,error" help:"Only this kind: memory, observation, rule, task or error."`
	Archived bool     `help:"Include archived memories."`
	Limit    int      `default:"100" help:"List at most this many."`
	JSON     bool     `name:"json" help:"Print JSON."`
	command.AllFlag
	command.DBFlag
}

// Run lists memories.
func (c *memoryListCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		found, err := c.found(ctx, db)
		if err != nil {
			return err
		}
		rows := []report.Memory{}
		for i := range found {
			if m := &found[i]; len(rows) < c.Limit && (c.Kind == "any" || string(m.Kind) == c.Kind) {
				rows = append(rows, lookup.MemoryRow(m))
			}
		}
		if c.JSON {
			return command.WriteJSON(s.Out, rows)
		}
		return report.WriteMemories(s.Out, rows, time.Local)
	})
}

// found returns the memories that the flags select, of any kind.
func (c *memoryListCmd) found(ctx context.Context, db store.Store) ([]lookup.Memory, error) {
	tenants, err := c.Tenant.Chosen(ctx, db, &c.AllFlag)
	if err != nil {
		return nil, err
	}
	q := store.MemoryQuery{Archived: c.Archived}
	if c.Project != "" {
		q.Scopes = []memory.Scope{{Level: memory.Project, Name: c.Project}}
	}
	if c.Session != "" && c.AllTenants {
		return nil, exit.Usage(errors.New("--session and --all-tenants exclude each other"))
	}
	if c.Session != "" {
		conv, err := c.Find(ctx, db, c.Session)
		if err != nil {
			return nil, err
		}
		q.Conversation = conv.ID
	}
	return lookup.Memories(ctx, db, tenants, q, strings.Join(c.Words, " "))
}

type memoryShowCmd struct {
	ID   string `arg:"" help:"Id of the memory, or the beginning of it."`
	JSON bool   `name:"json" help:"Print JSON."`
	command.DBFlag
}

// Run prints a memory.
func (c *memoryShowCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		tenant, items, err := remembered(ctx, db, &c.DBFlag, c.ID)
		if err != nil {
			return err
		}
		row := lookup.MemoryRow(&lookup.Memory{Tenant: tenant, Item: items[0]})
		if c.JSON {
			return command.WriteJSON(s.Out, row)
		}
		return row.WriteText(s.Out, time.Local)
	})
}

// remembered returns the items with the given ids or beginnings of ids, and their tenant.
func remembered(ctx context.Context, db store.Store, f *command.DBFlag, names ...string) (tenant string, items []memory.Item, err error) {
	if tenant, err = f.Tenant.One(ctx, db); err != nil {
		return "", nil, err
	}
	for _, name := range names {
		it, err := lookup.OneMemory(ctx, db, tenant, name)
		if errors.Is(err, store.ErrNotFound) {
			return "", nil, exit.Input(fmt.Errorf("no memory %q: \"decant memory list --archived\" lists them", name))
		}
		if err != nil {
			return "", nil, exit.Input(err)
		}
		items = append(items, *it)
	}
	return tenant, items, nil
}

type memoryForgetCmd struct {
	ID     []string `arg:"" help:"Ids of the memories, or the beginnings of them."`
	Yes    bool     `short:"y" help:"Do not ask for confirmation."`
	DryRun bool     `help:"Show what would be deleted; delete nothing."`
	command.DBFlag
}

// Run deletes memories, and their texts from the files of the database. Their conversations stay.
func (c *memoryForgetCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		tenant, items, err := remembered(ctx, db, &c.DBFlag, c.ID...)
		if err != nil {
			return err
		}
		f := store.Forgetting{Tenant: tenant}
		verb := "forget"
		if c.DryRun || !c.Yes {
			verb = "would forget"
		}
		for i := range items {
			f.Memories = append(f.Memories, items[i].ID)
			fmt.Fprintf(s.Out, "%s %s: %s\n", verb, items[i].ID, report.Visible(items[i].Text))
		}
		if c.DryRun {
			return nil
		}
		if err := agreed(s, c.Yes); err != nil {
			return err
		}
		return c.forget(ctx, s, db, f)
	})
}

// forget deletes, and reports what a search for the deleted texts found.
func (c *memoryForgetCmd) forget(ctx context.Context, s *process.Process, db store.Store, f store.Forgetting) error {
	var done *store.Collected
	err := s.Working("forgetting", func() (err error) {
		done, err = db.Forget(ctx, f)
		return err
	})
	if err != nil {
		return err
	}
	a := command.Act(s, "memory forget", f.Tenant, strings.Join(f.Memories, " "), report.Count(done.Memories, "item"))
	return errors.Join(command.Audited(ctx, db, a), proven(s, done.Proof))
}

type memoryRestoreCmd struct {
	ID []string `arg:"" help:"Ids of the memories, or the beginnings of them."`
	command.DBFlag
}

// Run restores archived memories.
func (c *memoryRestoreCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		tenant, items, err := remembered(ctx, db, &c.DBFlag, c.ID...)
		if err != nil {
			return err
		}
		now := time.Now()
		for i := range items {
			it := &items[i]
			if _, err := memory.Restore(*it, now); err != nil {
				return exit.Input(err)
			}
			restore := memory.Update(it.ID, func(it memory.Item) (memory.Item, error) { return memory.Restore(it, now) })
			if err := db.Revise(ctx, tenant, it.Scope, restore); err != nil {
				return err
			}
			if err := command.Audited(ctx, db, command.Act(s, "memory restore", tenant, it.ID, "")); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "%s is active again\n", it.ID)
		}
		return nil
	})
}

type memoryExportCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	command.AllFlag
	command.DBFlag
}

// Run writes all memories, archived ones too.
func (c *memoryExportCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		tenants, err := c.Tenant.Chosen(ctx, db, &c.AllFlag)
		if err != nil {
			return err
		}
		all, err := lookup.Memories(ctx, db, tenants, store.MemoryQuery{Archived: true}, "")
		if err != nil {
			return err
		}
		return s.Output(c.Output, func(w io.Writer) error {
			for i := range all {
				line, err := json.Marshal(&all[i], json.Deterministic(true), jsontext.EscapeForHTML(false))
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
