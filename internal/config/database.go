package config

import (
	"errors"
	"fmt"
	"strings"
)

// checkDB makes DB a path. It may be written as a path or as a URL, sqlite:PATH.
func (c *Config) checkDB() error {
	const instead = "name a file, as PATH or sqlite:PATH"
	scheme, rest, isURL := strings.Cut(c.DB, ":")
	switch {
	case scheme == "sqlite" && isURL && rest == "":
		return errors.New("db: sqlite: without a file; " + instead)
	case scheme == "sqlite" && isURL:
		c.DB = rest
	case isURL && (scheme == "postgres" || scheme == "postgresql"): // the rest may hold a password and is not quoted
		return errors.New("db: PostgreSQL is not supported yet; " + instead)
	case isURL && strings.HasPrefix(rest, "//"):
		return fmt.Errorf("db: %s:// is not a kind of database; %s", scheme, instead)
	}
	return nil
}
