package main

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// keyFileFlag names the file with the key of the database.
type keyFileFlag struct {
	EncryptionKeyFile string `placeholder:"FILE" help:"File with the database's encryption key (or DECANT_ENCRYPTION_KEY_FILE)."`
}

// makeKey says how to make a key.
const makeKey = `(umask 077; openssl rand -hex 32 > FILE)`

// encryptionKey returns the key of the database that the settings name, nil when they name none.
func encryptionKey(c *config.Config) (*seal.Key, error) {
	if c.Seal.KeyFile == "" {
		return nil, nil
	}
	k, err := seal.ReadKey(c.Seal.KeyFile)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("encryption.key_file: %w", err))
	}
	return k, nil
}

// secretOf returns what gives a store its key, nil for no key.
func secretOf(k *seal.Key) sqlite.KeyFunc {
	if k == nil {
		return nil
	}
	return k.Secret
}

// advised adds advice to an error about a database's key.
func advised(err error) error {
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

// private returns what no command of an agent has to read: a database, which has the conversations of all projects, what files were before they were
// changed, the settings, and what these name.
func private(s *process.Process, cfg *config.Config, db string) (names []string, err error) {
	for _, name := range append(cfg.Files(), db, db+"-wal", db+"-shm", db+"-files") {
		if name, err = s.Abs(name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
