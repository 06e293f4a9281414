// Package notebookcmd is the commands decant notebook and decant mcp: rules, decisions, tasks and observations of a
// repository, for people and for agents.
package notebookcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// Command is the command line of decant notebook. Its owner sets Scan.Pour.
type Command struct {
	Init    initCmd    `cmd:"" help:"Start a notebook for this repository and print the cron lines that maintain it."`
	Add     addCmd     `cmd:"" help:"Add a rule, or a decision, a task or a completed task."`
	Observe observeCmd `cmd:"" help:"Note a pattern, or confirm it if it is known."`
	Review  reviewCmd  `cmd:"" help:"Decide which observations become rules, one after the other."`
	Set     setCmd     `cmd:"" help:"Change a record: its text, its reason, or whether it is active, suspended or archived."`
	List    listCmd    `cmd:"" help:"List or search records."`
	Show    showCmd    `cmd:"" help:"Print a record and where it comes from."`
	Learn   learnCmd   `cmd:"" help:"Read sessions, or rules and tasks in Markdown files such as CLAUDE.md."`
	Scan    scanCmd    `cmd:"" help:"Read new sessions, run the scheduled scans that are due, and write the files."`
	Share   shareCmd   `cmd:"" help:"Put rules and decisions into .decant/shared.jsonl, which you commit for your team."`
	Publish publishCmd `cmd:"" help:"Write the rules to .claude/rules/decant.md, for agents without the plugin, and keep them current."`
	Report  reportCmd  `cmd:"" help:"Sum up a month, or one session."`
	Status  statusCmd  `cmd:"" help:"Print the state of the notebook."`
	On      onCmd      `cmd:"" help:"Switch the notebook on."`
	Off     offCmd     `cmd:"" help:"Switch the notebook off: nothing is recorded."`

	Opening openingCmd `cmd:"" hidden:"" help:"Print what the plugin tells a new session."`
	Hook    hookCmd    `cmd:"" hidden:"" help:"Answer a hook of Claude Code. The plugin calls it."`
}

// flags holds the flags of the notebook's commands.
type flags struct {
	Dir    string `default:"." placeholder:"DIR" help:"A folder in the repository (${default})."`
	DryRun bool   `help:"Print how the files would change, and change nothing."`
	JSON   bool   `name:"json" help:"Print JSON."`
	command.DBFlag
}

// book runs do with the notebook.
func (f *flags) book(s *process.Process, do func(context.Context, *notebook.Book) error) error {
	return f.bookIn(s, func(ctx context.Context, b *notebook.Book, _ store.Store, _ string) error { return do(ctx, b) })
}

// bookIn runs do with the notebook, its database and its tenant.
func (f *flags) bookIn(s *process.Process, do func(context.Context, *notebook.Book, store.Store, string) error) (err error) {
	ctx := context.Background()
	c, err := f.Settings(s)
	if err != nil {
		return err
	}
	if !config.IsServer(c.DB) {
		if err := os.MkdirAll(filepath.Dir(c.DB), 0o700); err != nil {
			return err
		}
	}
	db, err := setup.Open(ctx, c, c.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tenant, err := f.Tenant.One(ctx, db)
	if err != nil {
		return err
	}
	b, err := notebook.Open(notebook.Options{Memories: db, Tenant: tenant, Root: s.Path(f.Dir), DryRun: f.DryRun})
	if err != nil {
		return exit.Input(err)
	}
	err = do(ctx, b, db, tenant)
	if errors.Is(err, notebook.ErrNotFound) || errors.Is(err, notebook.ErrMayNot) || errors.Is(err, notebook.ErrOff) {
		err = exit.Input(err)
	}
	return err
}

// item runs a command on one record and prints the result.
func (f *flags) item(s *process.Process, do func(context.Context, *notebook.Book) (memory.Item, error)) error {
	return f.changing(s, func(ctx context.Context, b *notebook.Book) (func() error, error) {
		it, err := do(ctx, b)
		return func() error {
			if f.JSON {
				return command.WriteJSON(s.Out, it)
			}
			_, err := fmt.Fprintf(s.Out, "%s %s: %s\n", it.ID, it.Kind, report.Visible(it.Text))
			return err
		}, err
	})
}

// changing reads the edited files, runs do and calls the function that do returns, which prints the result.
// With --dry-run it prints how the files would change instead.
func (f *flags) changing(s *process.Process, do func(context.Context, *notebook.Book) (func() error, error)) error {
	return f.book(s, func(ctx context.Context, b *notebook.Book) error {
		before, err := f.files(ctx, s, b)
		if err != nil {
			return err
		}
		show, err := do(ctx, b)
		if err != nil {
			return err
		}
		if f.DryRun && !f.JSON {
			return f.diff(ctx, s, b, before)
		}
		return show()
	})
}

// files reads what people have edited in the files and reports it. With --dry-run it returns the files as
// they are now.
func (f *flags) files(ctx context.Context, s *process.Process, b *notebook.Book) (map[string]string, error) {
	r, err := b.Sync(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range r.Read {
		s.Note("read %s", l)
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
func (f *flags) diff(ctx context.Context, s *process.Process, b *notebook.Book, before map[string]string) error {
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

// printChanges prints changes of files as unified diffs.
func printChanges(s *process.Process, changes []notebook.Change) error {
	byName := func(a, b notebook.Change) int { return cmp.Compare(a.Name, b.Name) }
	changes = slices.SortedFunc(slices.Values(changes), byName)
	for _, c := range changes {
		if c.Before == c.After {
			continue
		}
		was, is := report.Text{Name: "a/" + c.Name, Text: c.Before}, report.Text{Name: "b/" + c.Name, Text: c.After}
		if err := report.WriteDiff(s.Out, was, is, s.Colour); err != nil {
			return err
		}
	}
	return nil
}

type initCmd struct {
	Backfill command.Age `placeholder:"AGE" help:"Read the sessions that agents recorded in this repository in the last 30d, 12h, ... and show candidates for rules."`
	flags
}

// Run makes the notebook's folder.
func (c *initCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		found, err := b.Unwritten()
		if err != nil {
			return exit.Input(err)
		}
		if len(found) > 0 && !c.DryRun {
			s.Note("%s already has %s: --dry-run shows what would change", b.Dir(), strings.Join(found, ", "))
			if !s.Asks() || !s.Confirm("Take the files over?") {
				return exit.Usage(errors.New("nothing was changed"))
			}
		}
		r, err := b.Init(ctx)
		if err == nil && c.Backfill > 0 {
			err = c.backfill(ctx, s, b)
		}
		if err == nil && c.DryRun && c.Backfill > 0 {
			r, err = b.Sync(ctx)
		}
		if err != nil {
			return err
		}
		if c.DryRun {
			return printChanges(s, r.Changes)
		}
		c.notes(s, b.Settings())
		const cron = "The notebook's files are in %s.\nScans run when a session begins. To let cron run them:\n\n" +
			"  0 0 * * 0  cd %s && decant notebook scan\n  0 0 1 * *  cd %[2]s && decant notebook scan\n"
		_, err = fmt.Fprintf(s.Out, cron, b.Dir(), quoteShell(b.Root()))
		return err
	})
}

// quoteShell returns a path as a word of a shell command.
func quoteShell(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// mostShown is how many observations a backfill prints.
const mostShown = 20

// backfill learns from recorded sessions and prints the candidates for rules.
func (c *initCmd) backfill(ctx context.Context, s *process.Process, b *notebook.Book) error {
	l, err := learn(ctx, s, b, nil, c.Backfill.Since(time.Now()))
	if err != nil {
		return err
	}
	if l.Sessions == 0 {
		s.Note("Claude Code, Codex and pi recorded no session in %s in that time", b.Root())
		return nil
	}
	if err := writeLearned(s, l); err != nil {
		return err
	}
	offered, err := b.Offered(ctx)
	if err != nil || len(offered) == 0 {
		return err
	}
	s.Blank()
	for _, r := range offered[:min(len(offered), mostShown)] {
		writeOffer(s, r)
	}
	_, err = fmt.Fprintf(s.Out, "\n%s to decide on: decant notebook review\n\n", report.Count(len(offered), "observation"))
	return err
}

type onCmd struct{ flags }

// Run switches the notebook on.
func (c *onCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error { return b.Switch(ctx, true) })
}

type offCmd struct{ flags }

// Run switches the notebook off.
func (c *offCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error { return b.Switch(ctx, false) })
}

type statusCmd struct{ flags }

// Run prints the state of the notebook.
func (c *statusCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		st, err := b.State(ctx)
		if err != nil {
			return err
		}
		offered, err := b.Offered(ctx)
		if err != nil {
			return err
		}
		st.Trees = nil
		if c.JSON {
			return command.WriteJSON(s.Out, st)
		}
		c.notes(s, b.Settings())
		on := "on"
		if st.Off || !b.Settings().Enabled {
			on = "off"
		}
		day := func(t time.Time) string { return t.Local().Format(time.DateOnly) }
		fmt.Fprintf(s.Out, "folder        %s\nnotebook      %s\nsessions      %d\n", b.Dir(), on, st.Sessions)
		fmt.Fprintf(s.Out, "to review     %d (decant notebook review)\n", len(offered))
		_, err = fmt.Fprintf(s.Out, "last weekly   %s\nlast monthly  %s\n", day(st.Weekly), day(st.Monthly))
		return err
	})
}
