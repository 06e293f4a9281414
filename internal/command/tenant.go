package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/store"
)

// A Tenant is the value of --tenant. The empty name stands for users without keys.
type Tenant struct {
	Name  string
	Given bool
}

// UnmarshalText reads a name from a flag.
func (t *Tenant) UnmarshalText(text []byte) error {
	*t = Tenant{string(text), true}
	return nil
}

// AllFlag is the flag of commands that can cover the whole database.
type AllFlag struct {
	AllTenants bool `help:"Cover all tenants in the database."`
}

// One returns the one tenant that a command is about: the named one, or the only one in the database. With
// several it chooses none silently, because conversations of another tenant would seem not to exist.
func (t *Tenant) One(ctx context.Context, db store.Directory) (string, error) {
	ts, err := t.Chosen(ctx, db, nil)
	if err != nil {
		return "", err
	}
	return ts[0], nil
}

// Chosen returns the tenants that a command is about, at least one; with all, every tenant of the database. all is
// nil for a command that works on one tenant only.
func (t *Tenant) Chosen(ctx context.Context, db store.Directory, all *AllFlag) ([]string, error) {
	known, err := db.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	everybody := all != nil && all.AllTenants
	switch {
	case everybody && t.Given:
		return nil, exit.Usage(fmt.Errorf("--tenant and --all-tenants exclude each other"))
	case t.Given && len(known) > 0 && !slices.Contains(known, t.Name):
		return nil, exit.Input(fmt.Errorf("this database has no tenant %s: it has %s", shown(t.Name), listed(known)))
	case t.Given, len(known) == 0:
		return []string{t.Name}, nil
	case everybody, len(known) == 1:
		return known, nil
	}
	choice := "--tenant NAME"
	if all != nil {
		choice += " or --all-tenants"
	}
	return nil, exit.Usage(fmt.Errorf("this database has the tenants %s: %s", listed(known), choice))
}

// listed writes the names of tenants.
func listed(tenants []string) string {
	out := make([]string, len(tenants))
	for i, t := range tenants {
		out[i] = shown(t)
	}
	return strings.Join(out, ", ")
}

// shown writes the name of a tenant as you would type it.
func shown(tenant string) string {
	if tenant == "" {
		return `""`
	}
	return tenant
}
