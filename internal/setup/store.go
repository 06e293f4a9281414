package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/postgres"
	"github.com/decantdev/decant/store/sqlite"
)

// Open opens a database with the key that the settings name. The caller closes it.
func Open(ctx context.Context, c *config.Config, path string) (store.Store, error) {
	return OpenWith(ctx, c, path, sqlite.Options{})
}

// OpenWith is openStore with options. Its other callers are services.
func OpenWith(ctx context.Context, c *config.Config, path string, o sqlite.Options) (store.Store, error) {
	key, err := Key(c)
	if err != nil {
		return nil, err
	}
	if config.IsServer(path) {
		if key != nil {
			return nil, exit.Usage(errors.New("encryption.key_file: Decant encrypts database files only; a PostgreSQL database is encrypted by its server's disk"))
		}
		return openServer(ctx, path, o)
	}
	o.Key = Secret(key)
	db, err := sqlite.Open(ctx, path, o)
	if err != nil { // and no *sqlite.DB that is nil in an interface that is not
		return nil, Advised(err)
	}
	return db, nil
}

// openServer opens a PostgreSQL database.
func openServer(ctx context.Context, name string, o sqlite.Options) (store.Store, error) {
	address := name
	if file, ok := strings.CutPrefix(name, "@"); ok {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, exit.Input(fmt.Errorf("read the address of the database: %w", err))
		}
		address = strings.TrimSpace(string(data))
	}
	return postgres.Open(ctx, address, postgres.Options{Now: o.Now})
}

// Key returns the key of the database that the settings name, nil when they name none.
func Key(c *config.Config) (*seal.Key, error) {
	if c.Seal.KeyFile == "" {
		return nil, nil
	}
	k, err := seal.ReadKey(c.Seal.KeyFile)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("encryption.key_file: %w", err))
	}
	return k, nil
}

// Secret returns what gives a store its key, nil for no key.
func Secret(k *seal.Key) sqlite.KeyFunc {
	if k == nil {
		return nil
	}
	return k.Secret
}

// Advised adds advice to an error about a database's key.
func Advised(err error) error {
	const name = "name the file with its key: encryption.key_file in the settings, DECANT_ENCRYPTION_KEY_FILE or --encryption-key-file"
	switch {
	case errors.Is(err, store.ErrSealed):
		return exit.Input(fmt.Errorf("%w; %s", err, name))
	case errors.Is(err, store.ErrWrongKey):
		return exit.Input(fmt.Errorf("%w; %s", err, name))
	case errors.Is(err, store.ErrUnsealed):
		return exit.Input(fmt.Errorf(`%w, and the settings name a key: "decant encrypt" encrypts it while nothing else uses it; or name no key`, err))
	}
	return err
}

// Private returns what no command of an agent has to read: a database, which has the conversations of all projects, what files were before they were
// changed, the settings, and what these name.
func Private(s *process.Process, cfg *config.Config, db string) (names []string, err error) {
	files := cfg.Files()
	if !config.IsServer(db) {
		files = append(files, db, db+"-wal", db+"-shm", db+"-files")
	}
	for _, name := range files {
		if name, err = s.Abs(name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
