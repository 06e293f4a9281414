package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type encryptCmd struct {
	Rotate  string `placeholder:"FILE" help:"Change to the key in this file. Instant; gateways keep running."`
	Anew    bool   `help:"Encrypt everything again under a new data key, so that a stolen old key and an old copy open nothing new."`
	Decrypt bool   `help:"Write the database unencrypted."`
	keyFlags
}

// Run encrypts the database under the key that the settings name, or changes how it is encrypted.
func (c *encryptCmd) Run(s *process.Process) error {
	x, err := c.encryption(s)
	if err != nil {
		return err
	}
	ctx := context.Background()
	is, err := x.encrypted(ctx)
	switch {
	case err != nil:
		return err
	case !is && (c.Rotate != "" || c.Anew || c.Decrypt):
		return exit.Input(fmt.Errorf(`%s is not encrypted: "decant encrypt" without a flag encrypts it`, x.path))
	case c.Rotate != "" && !c.Anew:
		return x.rotate(ctx, s)
	case c.Decrypt:
		return x.convert(ctx, s, x.key, nil, "decrypted")
	case c.Anew:
		return x.convert(ctx, s, x.key, x.to, "encrypted again under the key "+x.to.ID())
	case is:
		fmt.Fprintf(s.Err, "%s is already encrypted under this key\n", x.path)
		return nil
	}
	return x.convert(ctx, s, nil, x.key, "encrypted under the key "+x.key.ID())
}

// An encryption says what the command does to which database.
type encryption struct {
	cfg  *config.Config
	path string
	key  *seal.Key // the key that the settings name
	to   *seal.Key // the key to change to
}

// encryption returns what the command line means.
func (c *encryptCmd) encryption(s *process.Process) (x encryption, err error) {
	if c.Decrypt && (c.Anew || c.Rotate != "") {
		return x, exit.Usage(errors.New("--decrypt goes with no other flag"))
	}
	of := c.of()
	if x.cfg, err = of.Settings(s); err != nil {
		return x, err
	}
	if x.key, err = setup.Key(x.cfg); err != nil {
		return x, err
	}
	if x.key == nil {
		return x, exit.Usage(errors.New("which key? Make one with " + makeKey + " and name the file: encryption.key_file in the settings, DECANT_ENCRYPTION_KEY_FILE or --encryption-key-file"))
	}
	if x.to = x.key; c.Rotate != "" {
		if x.to, err = seal.ReadKey(s.Path(c.Rotate)); err != nil {
			return x, exit.Usage(fmt.Errorf("--rotate: %w", err))
		}
	}
	x.path, err = of.File(s, x.cfg)
	return x, err
}

// encrypted reports whether the database is encrypted under the key.
func (x *encryption) encrypted(ctx context.Context) (bool, error) {
	db, err := sqlite.Open(ctx, x.path, sqlite.Options{Key: x.key.Secret})
	if errors.Is(err, store.ErrUnsealed) {
		return false, nil
	}
	if err != nil {
		return false, setup.Advised(err)
	}
	return true, db.Close()
}

// convert writes the database again and records that in the audit log.
func (x *encryption) convert(ctx context.Context, s *process.Process, from, to *seal.Key, what string) error {
	if err := s.Working("rewriting "+x.path, func() error { return sqlite.Convert(ctx, x.path, setup.Secret(from), setup.Secret(to)) }); err != nil {
		return err
	}
	if err := x.audit(ctx, s, to, what); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "%s is %s; remove older copies from disks and backups yourself\n", x.path, what)
	if to == nil {
		fmt.Fprintln(s.Err, "note: remove the key from the settings; an unencrypted database does not open with a key")
	}
	return nil
}

// rotate changes the outside key.
func (x *encryption) rotate(ctx context.Context, s *process.Process) error {
	if err := sqlite.Rotate(ctx, x.path, x.key.Secret, x.to.Secret); err != nil {
		return err
	}
	what := fmt.Sprintf("the key was changed from %s to %s", x.key.ID(), x.to.ID())
	if err := x.audit(ctx, s, x.to, what); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "%s: %s. Name the new file in the settings before anything opens it again; the old key still opens older backups\n", x.path, what)
	return nil
}

// audit records in the audit log what was done. The key is the one that opens the database now.
func (x *encryption) audit(ctx context.Context, s *process.Process, key *seal.Key, what string) error {
	db, err := sqlite.Open(ctx, x.path, sqlite.Options{Key: setup.Secret(key)})
	if err != nil {
		return err
	}
	return errors.Join(command.Audited(ctx, db, command.Act(s, "encrypt", "", "", what)), db.Close())
}

// makeKey says how to make a key.
const makeKey = `(umask 077; openssl rand -hex 32 > FILE)`
