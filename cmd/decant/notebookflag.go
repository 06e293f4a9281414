package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
)

// notebookFlag holds the flags of all commands of the notebook.
type notebookFlag struct {
	Dir    string `default:"." placeholder:"DIR" help:"A folder in the repository (${default})."`
	DryRun bool   `help:"Print how the files would change, and change nothing."`
	JSON   bool   `name:"json" help:"Print JSON."`
	dbFlag
}

// book runs do with the notebook.
func (f *notebookFlag) book(do func(context.Context, *notebook.Book) error) (err error) {
	ctx := context.Background()
	c, err := f.settings()
	if err != nil {
		return err
	}
	path, err := databasePath(c.DB)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	db, err := openStore(ctx, c, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tenant, err := f.Tenant.one(ctx, db)
	if err != nil {
		return err
	}
	b, err := notebook.Open(ctx, notebook.Options{Memories: db, Tenant: tenant, Root: f.Dir, DryRun: f.DryRun})
	if err != nil {
		return inputError{err}
	}
	err = do(ctx, b)
	if errors.Is(err, notebook.ErrNotFound) || errors.Is(err, notebook.ErrMayNot) || errors.Is(err, notebook.ErrOff) {
		err = inputError{err}
	}
	return err
}

// item runs a command about one record and prints what has become of it.
func (f *notebookFlag) item(s *streams, do func(context.Context, *notebook.Book) (memory.Item, error)) error {
	return f.book(func(ctx context.Context, b *notebook.Book) error {
		before, err := f.files(ctx, s, b)
		if err != nil {
			return err
		}
		it, err := do(ctx, b)
		if err != nil {
			return err
		}
		if f.JSON {
			return writeJSON(s.out, it)
		}
		if f.DryRun {
			return f.diff(ctx, s, b, before)
		}
		fmt.Fprintf(s.out, "%s %s: %s\n", it.ID, it.Kind, report.Visible(it.Text))
		return nil
	})
}

// files returns the files as they are now, after what people have changed in them was read; it is said what that was.
func (f *notebookFlag) files(ctx context.Context, s *streams, b *notebook.Book) (map[string]string, error) {
	r, err := b.Sync(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range r.Read {
		s.note("read %s", l)
	}
	if len(r.Read) > 0 {
		if err := printChanges(s, r.Changes); err != nil {
			return nil, err
		}
	}
	if !f.DryRun {
		return nil, nil
	}
	return b.Render(ctx)
}

// diff prints how the files would change.
func (f *notebookFlag) diff(ctx context.Context, s *streams, b *notebook.Book, before map[string]string) error {
	after, err := b.Render(ctx)
	if err != nil {
		return err
	}
	var changes []notebook.Change
	for name := range after {
		changes = append(changes, notebook.Change{Name: name, Before: before[name], After: after[name]})
	}
	return printChanges(s, changes)
}

// printChanges prints how files differ, as unified diffs.
func printChanges(s *streams, changes []notebook.Change) error {
	for _, c := range sortedChanges(changes) {
		if c.Before == c.After {
			continue
		}
		if err := report.WriteDiff(s.out, report.Text{Name: "a/" + c.Name, Text: c.Before}, report.Text{Name: "b/" + c.Name, Text: c.After}, s.colour); err != nil {
			return err
		}
	}
	return nil
}

func sortedChanges(cs []notebook.Change) []notebook.Change {
	return slices.SortedFunc(slices.Values(cs), func(a, b notebook.Change) int { return cmp.Compare(a.Name, b.Name) })
}
