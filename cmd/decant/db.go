package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// dbFlag holds the flags of every command that uses a database. Flags that are not given are as for the
// gateway, so that both use the same database.
type dbFlag struct {
	DB     string `name:"db" placeholder:"FILE" help:"Database file (or DECANT_DB). Default: the gateway's."`
	Config string `placeholder:"FILE" help:"YAML file with the gateway's settings (or DECANT_CONFIG)."`
	keyFileFlag
	Tenant tenantName `placeholder:"NAME" help:"Tenant whose conversations to use. Default: the only tenant in the database."`
}

// settings returns the gateway's settings.
func (f *dbFlag) settings(s *process.Process) (*config.Config, error) {
	c, err := config.Load(config.Sources{File: f.Config, Environ: s.Environ, Dir: s.Dir, Flags: map[string]string{"db": f.DB, "encryption_key_file": f.EncryptionKeyFile}})
	if err != nil {
		return nil, exit.Usage(err)
	}
	return c, nil
}

// engine returns an engine that decides as the gateway does.
func (f *dbFlag) engine(s *process.Process, db store.Store, catalog *token.Catalog, window int, name string) (*engine.Engine, error) {
	c, err := f.settings(s)
	if err != nil {
		return nil, err
	}
	p, err := presetAt(cmp.Or(s.Preset(name), c.Preset), c.Early)
	if err != nil {
		return nil, exit.Usage(err)
	}
	o := engine.Options{Catalog: catalog, Preset: p, Window: cmp.Or(window, c.Window), Adds: engine.Adds{DropBlock: c.DropBlock, Markers: c.AddMarkers}, Budgets: budgetsOf(c)}
	if err := intoCommand(c, &o, db); err != nil {
		return nil, err
	}
	return engine.New(db, o)
}

// open opens the database, which must exist. The caller must close it.
func (f *dbFlag) open(ctx context.Context, s *process.Process) (store.Store, error) {
	c, err := f.settings(s)
	if err != nil {
		return nil, err
	}
	path, err := f.path(s, c)
	if err != nil {
		return nil, err
	}
	db, err := openStore(ctx, c, path)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNewer) {
		return nil, exit.Input(err)
	}
	return db, err
}

// with runs do with the open database.
func (f *dbFlag) with(s *process.Process, do func(context.Context, store.Store) error) error {
	ctx := context.Background()
	db, err := f.open(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, db), db.Close())
}

// find returns the conversation that a name means.
func (f *dbFlag) find(ctx context.Context, db store.Store, name string) (*store.Summary, error) {
	tenant, err := f.Tenant.one(ctx, db)
	if err != nil {
		return nil, err
	}
	c, err := lookup.Conversation(ctx, db, tenant, name)
	var several *lookup.AmbiguousError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, exit.Input(fmt.Errorf("no conversation %q: \"decant sessions\" lists them", name))
	case errors.As(err, &several):
		return nil, exit.Usage(fmt.Errorf("%q is ambiguous; give more of the id:\n%s", name, candidates(several.Found)))
	}
	return c, err
}

// candidates lists conversations to choose from.
func candidates(found []store.Summary) string {
	const most = 20
	var lines []string
	for _, c := range found[:min(most, len(found))] {
		lines = append(lines, fmt.Sprintf("  %s  session %s, %d messages, %s", c.ID, cmp.Or(c.Session, "-"), c.Messages, c.Updated.Local().Format(time.DateTime)))
	}
	return strings.Join(lines, "\n")
}

// transcript reads the conversation that a name means.
func (f *dbFlag) transcript(ctx context.Context, db store.Store, name string) (*archive.Transcript, error) {
	c, err := f.find(ctx, db, name)
	if err != nil {
		return nil, err
	}
	return archive.ReadTranscript(ctx, db, c.Key, store.Newest)
}

// original returns what a handle refers to, in one conversation or, if session is empty, in all.
func (f *dbFlag) original(ctx context.Context, db store.Store, session string, h decant.Handle) (*store.Original, error) {
	k, err := f.within(ctx, db, session)
	if err != nil {
		return nil, err
	}
	o, err := lookup.Original(ctx, db, k, h)
	var ambiguous *store.AmbiguousError
	switch {
	case errors.Is(err, lookup.ErrWhich):
		return nil, exit.Usage(fmt.Errorf("every conversation has its own checkpoint %s: name the conversation with --session", h))
	case errors.As(err, &ambiguous):
		return nil, exit.Usage(fmt.Errorf("%s is ambiguous; give more digits:\n  %s", h, strings.Join(ambiguous.Candidates, "\n  ")))
	case errors.Is(err, store.ErrBadHandle):
		return nil, exit.Usage(err)
	case errors.Is(err, store.ErrNotFound):
		return nil, exit.Input(fmt.Errorf("unknown handle %s: it belongs to another database or conversation, or gc deleted its original", h))
	}
	return o, err
}

// within returns where to look for a handle: in the conversation that session means, or in everything of the tenant if
// session is empty.
func (f *dbFlag) within(ctx context.Context, db store.Store, session string) (store.Key, error) {
	if session == "" {
		tenant, err := f.Tenant.one(ctx, db)
		return store.Key{Tenant: tenant}, err
	}
	c, err := f.find(ctx, db, session)
	if err != nil {
		return store.Key{}, err
	}
	return c.Key, nil
}

// dbCmd maintains the database itself.
type dbCmd struct {
	Check  dbCheckCmd  `cmd:"" help:"Check the whole database and list problems." example:"decant db check"`
	Backup dbBackupCmd `cmd:"" help:"Copy the database to a new file while it is in use." example:"decant db backup copy.db"`
}

type dbCheckCmd struct {
	dbFlag
}

// Run checks the database. A problem is an error.
func (c *dbCheckCmd) Run(s *process.Process) error {
	return c.with(s, func(ctx context.Context, db store.Store) error {
		var problems []string
		err := s.Working("checking the database", func() (err error) {
			problems, err = db.Check(ctx)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range problems {
			fmt.Fprintln(s.Out, p)
		}
		if n := len(problems); n > 0 {
			return exit.Input(fmt.Errorf("%d problems: restore a backup, or move the file away; conversations then start again", n))
		}
		_, err = fmt.Fprintln(s.Out, "the database is sound")
		return err
	})
}

type dbBackupCmd struct {
	File string `arg:"" help:"File for the copy. It must not exist."`
	dbFlag
}

// Run writes a copy of the database.
func (c *dbBackupCmd) Run(s *process.Process) error {
	if _, err := os.Stat(s.Path(c.File)); err == nil {
		return exit.Usage(fmt.Errorf("%s exists already: name a new file", c.File))
	}
	return c.with(s, func(ctx context.Context, db store.Store) error {
		return s.Working("writing "+c.File, func() error { return db.Backup(ctx, s.Path(c.File)) })
	})
}

// An age is how long ago something was: 30d, 12h, 90m. The zero value means "not given".
type age time.Duration

// UnmarshalText reads an age from a flag.
func (a *age) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n <= 36_500) {
			return fmt.Errorf("%q is not an age: write 30d or 12h", s)
		}
		*a = age(n * 24 * float64(time.Hour))
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not an age: write 30d or 12h", s)
	}
	*a = age(d)
	return nil
}

// since returns the moment that lies so long before now, the zero time when none is given.
func (a age) since(now time.Time) time.Time {
	if a == 0 {
		return time.Time{}
	}
	return now.Add(-time.Duration(a))
}

// path returns the file of a database, which must exist.
func (f *dbFlag) path(s *process.Process, c *config.Config) (string, error) {
	switch _, err := os.Stat(c.DB); {
	case errors.Is(err, os.ErrNotExist):
		return "", exit.Input(fmt.Errorf("there is no database %s yet: run an agent through Decant first, or name one with --db", c.DB))
	case err != nil:
		return "", exit.Input(err)
	}
	return c.DB, nil
}
