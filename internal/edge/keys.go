package edge

import (
	"context"
	"log/slog"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/process"
)

// StoredKeys returns the keys of the settings and of the database. If other machines can reach the gateway, there must
// be some. A database that cannot be read stops no agent on this machine: the keys of the settings apply until it can.
func StoredKeys(ctx context.Context, c *config.Config, stored keyring.Source, log *slog.Logger) (*keyring.Ring, error) {
	ring := keyring.New(keyring.Options{Keys: keysOf(c)})
	if err := ring.Refresh(ctx, stored); err != nil {
		log.Error("the keys in the database cannot be read; those of the settings count until they can", "error", err.Error())
	}
	if err := c.CheckOpen(ring.Closed()); err != nil {
		return nil, exit.Usage(err)
	}
	return ring, nil
}

// keysOf returns the keys of the settings.
func keysOf(c *config.Config) []keyring.Key {
	var out []keyring.Key
	for i := range c.Keys {
		hash, err := c.Keys[i].Hash()
		if err != nil {
			continue // cannot fail: the configuration was checked
		}
		out = append(out, keyring.Key{Tenant: c.Keys[i].Tenant, Hash: hash})
	}
	return out
}

// Logger returns the log that a configuration asks for. Logs go to standard error.
func Logger(c *config.Config, s *process.Process) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log)); err != nil {
		level = slog.LevelInfo // checked with the configuration
	}
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(s.Err, o))
	}
	return slog.New(slog.NewTextHandler(s.Err, o))
}
