// Package command has what the commands of several storeys share: the flags that name a database, a tenant, a catalogue of
// models, an amount or a time, what these flags open, and the record of what a command has changed.
package command

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
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// DBFlag holds the flags of every command that uses a database. Flags that are not given are as for the
// gateway, so that both use the same database.
type DBFlag struct {
	DB     string `name:"db" placeholder:"FILE" help:"Database file, or postgres:// address, or @FILE with one (or DECANT_DB). Default: the gateway's."`
	Config string `placeholder:"FILE" help:"YAML file with the gateway's settings (or DECANT_CONFIG)."`
	KeyFileFlag
	Tenant Tenant `placeholder:"NAME" help:"Tenant whose conversations to use. Default: the only tenant in the database."`
}

// Settings returns the gateway's settings.
func (f *DBFlag) Settings(s *process.Process) (*config.Config, error) {
	c, err := config.Load(config.Sources{File: f.Config, Environ: s.Environ, Dir: s.Dir, Flags: map[string]string{"db": f.DB, "encryption_key_file": f.EncryptionKeyFile}})
	if err != nil {
		return nil, exit.Usage(err)
	}
	return c, nil
}

// Engine returns an engine that decides as the gateway does.
func (f *DBFlag) Engine(s *process.Process, db store.Store, catalog *token.Catalog, window int, name string) (*engine.Engine, error) {
	c, err := f.Settings(s)
	if err != nil {
		return nil, err
	}
	p, err := setup.Preset(cmp.Or(s.Preset(name), c.Preset), c.Early)
	if err != nil {
		return nil, exit.Usage(err)
	}
	o := engine.Options{Catalog: catalog, Preset: p, Window: cmp.Or(window, c.Window), Adds: engine.Adds{DropBlock: c.DropBlock, Markers: c.AddMarkers}, Budgets: setup.Budgets(c)}
	if err := setup.AddOwnCalls(c, &o, db); err != nil {
		return nil, err
	}
	return engine.New(db, o)
}

// Open opens the database, which must exist. The caller must close it.
func (f *DBFlag) Open(ctx context.Context, s *process.Process) (store.Store, error) {
	c, err := f.Settings(s)
	if err != nil {
		return nil, err
	}
	if !config.IsServer(c.DB) {
		if _, err := f.File(s, c); err != nil {
			return nil, err
		}
	}
	db, err := setup.Open(ctx, c, c.DB)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNewer) {
		return nil, exit.Input(err)
	}
	return db, err
}

// With runs do with the open database.
func (f *DBFlag) With(s *process.Process, do func(context.Context, store.Store) error) error {
	ctx := context.Background()
	db, err := f.Open(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, db), db.Close())
}

// Find returns the conversation that a name means.
func (f *DBFlag) Find(ctx context.Context, db store.Store, name string) (*store.Summary, error) {
	tenant, err := f.Tenant.One(ctx, db)
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

// Transcript reads the conversation that a name means.
func (f *DBFlag) Transcript(ctx context.Context, db store.Store, name string) (*archive.Transcript, error) {
	c, err := f.Find(ctx, db, name)
	if err != nil {
		return nil, err
	}
	return archive.ReadTranscript(ctx, db, c.Key, store.Newest)
}

// Original returns what a handle refers to, in one conversation or, if session is empty, in all.
func (f *DBFlag) Original(ctx context.Context, db store.Store, session string, h decant.Handle) (*store.Original, error) {
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
func (f *DBFlag) within(ctx context.Context, db store.Store, session string) (store.Key, error) {
	if session == "" {
		tenant, err := f.Tenant.One(ctx, db)
		return store.Key{Tenant: tenant}, err
	}
	c, err := f.Find(ctx, db, session)
	if err != nil {
		return store.Key{}, err
	}
	return c.Key, nil
}

// An Age is how long ago something was: 30d, 12h, 90m. The zero value means "not given".
type Age time.Duration

// UnmarshalText reads an age from a flag.
func (a *Age) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n <= 36_500) {
			return fmt.Errorf("%q is not an age: write 30d or 12h", s)
		}
		*a = Age(n * 24 * float64(time.Hour))
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not an age: write 30d or 12h", s)
	}
	*a = Age(d)
	return nil
}

// Since returns the moment that lies so long before now, the zero time when none is given.
func (a Age) Since(now time.Time) time.Time {
	if a == 0 {
		return time.Time{}
	}
	return now.Add(-time.Duration(a))
}

// File returns the file of a database, which must exist.
func (f *DBFlag) File(s *process.Process, c *config.Config) (string, error) {
	switch _, err := os.Stat(c.DB); {
	case config.IsServer(c.DB):
		return "", exit.Input(fmt.Errorf("%s is on a server, and this needs a database file", config.ShowDB(c.DB)))
	case errors.Is(err, os.ErrNotExist):
		return "", exit.Input(fmt.Errorf("there is no database %s yet: run an agent through Decant first, or name one with --db", c.DB))
	case err != nil:
		return "", exit.Input(err)
	}
	return c.DB, nil
}
