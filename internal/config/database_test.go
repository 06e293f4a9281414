package config

import (
	"strings"
	"testing"
)

func TestDatabaseIsAPathOrAURL(t *testing.T) {
	for _, tt := range []struct{ db, path, err string }{
		{"", "", ""},
		{"decant.db", "decant.db", ""},
		{"/var/lib/decant.db", "/var/lib/decant.db", ""},
		{"sqlite:decant.db", "decant.db", ""},
		{"sqlite:/var/lib/a:b.db", "/var/lib/a:b.db", ""},
		{"sqlite", "sqlite", ""},
		{`C:\decant.db`, `C:\decant.db`, ""},
		{"sqlite:", "", "without a file"},
		{"postgres://decant:hunter2@db/decant", "postgres://decant:hunter2@db/decant", ""},
		{"postgresql://db/decant", "postgresql://db/decant", ""},
		{"@/run/secrets/db", "@/run/secrets/db", ""},
		{"@", "", "without a file"},
		{"mysql://db/decant", "", "mysql:// is not a kind of database"},
	} {
		c, err := Load(Sources{Flags: map[string]string{"db": tt.db}})
		switch {
		case err == nil && (tt.err != "" || c.DB != tt.path):
			t.Errorf("%s: file %q, want %q or an error with %q", tt.db, c.DB, tt.path, tt.err)
		case err != nil && (tt.err == "" || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: %v, want %q", tt.db, err, tt.err)
		}
	}
}

func TestPasswordsOfDatabasesAreNotShown(t *testing.T) {
	for db, want := range map[string]string{
		"postgres://decant:hunter2@db:5432/decant?sslpassword=hunter2": "postgres://decant@db:5432/decant",
		"postgres://db/decant?password=hunter2":                        "postgres://db/decant",
		"postgres://decant:hunter2@db:port/decant":                     "postgres://...",
		"@db-address": "@db-address",
		"decant.db":   "decant.db",
	} {
		if got := ShowDB(db); got != want {
			t.Errorf("%s is shown as %s, want %s", db, got, want)
		}
	}
}
