package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A database is named as a file, PATH or sqlite:PATH, or on a server: by its address, postgres://USER@HOST/NAME, or as @FILE by
// a file that has the address in it.

// IsServer reports whether a database is on a server.
func IsServer(db string) bool {
	return strings.HasPrefix(db, "@") || strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// ShowDB returns the name of a database as it may be shown: of an address neither password nor parameters.
func ShowDB(db string) string {
	if !IsServer(db) || strings.HasPrefix(db, "@") {
		return db
	}
	u, err := url.Parse(db)
	if err != nil {
		return "postgres://..."
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}

// checkDB makes the DB of a file a path.
func (c *Config) checkDB() error {
	const instead = "name a file, as PATH or sqlite:PATH, or a PostgreSQL database, as postgres://USER@HOST/NAME or @FILE with such an address in it"
	scheme, rest, isURL := strings.Cut(c.DB, ":")
	switch {
	case c.DB == "@":
		return errors.New("db: @ without a file; " + instead)
	case IsServer(c.DB):
	case scheme == "sqlite" && isURL && rest == "":
		return errors.New("db: sqlite: without a file; " + instead)
	case scheme == "sqlite" && isURL:
		c.DB = rest
	case isURL && strings.HasPrefix(rest, "//"):
		return fmt.Errorf("db: %s:// is not a kind of database; %s", scheme, instead)
	}
	return nil
}
