package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/store"
)

// A tenantName is the value of --tenant. The empty name is that of whoever used the database without keys.
type tenantName struct {
	name  string
	given bool
}

// UnmarshalText reads a name from a flag.
func (t *tenantName) UnmarshalText(text []byte) error {
	*t = tenantName{string(text), true}
	return nil
}

// allFlag is for commands that can be about the whole database.
type allFlag struct {
	AllTenants bool `help:"Cover all tenants of the database."`
}

// tenant returns the one tenant that a command is about: the one that is named, or the only one that the
// database has. Of several nobody is chosen silently: what belongs to another would seem not to be there.
func (f *dbFlag) tenant(ctx context.Context, db store.Directory) (string, error) {
	ts, err := f.tenants(ctx, db, nil)
	if err != nil {
		return "", err
	}
	return ts[0], nil
}

// tenants returns those that a command is about, at least one: with all, all that the database has. all is
// nil for a command that is about one tenant only.
func (f *dbFlag) tenants(ctx context.Context, db store.Directory, all *allFlag) ([]string, error) {
	known, err := db.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	everybody := all != nil && all.AllTenants
	switch {
	case everybody && f.Tenant.given:
		return nil, usageError{fmt.Errorf("--tenant and --all-tenants exclude each other")}
	case f.Tenant.given && len(known) > 0 && !slices.Contains(known, f.Tenant.name):
		return nil, inputError{fmt.Errorf("this database has no tenant %s: it has %s", shown(f.Tenant.name), listed(known))}
	case f.Tenant.given, len(known) == 0:
		return []string{f.Tenant.name}, nil
	case everybody, len(known) == 1:
		return known, nil
	}
	choice := "--tenant NAME"
	if all != nil {
		choice += " or --all-tenants"
	}
	return nil, usageError{fmt.Errorf("this database has the tenants %s: %s", listed(known), choice)}
}

// listed writes the names of tenants.
func listed(tenants []string) string {
	out := make([]string, len(tenants))
	for i, t := range tenants {
		out[i] = shown(t)
	}
	return strings.Join(out, ", ")
}

// shown writes the name of a tenant as it is to be typed.
func shown(tenant string) string {
	if tenant == "" {
		return `""`
	}
	return tenant
}
