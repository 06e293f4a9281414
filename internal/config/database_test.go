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
		{"postgres://decant:hunter2@db/decant", "", "PostgreSQL is not supported yet"},
		{"postgresql://db/decant", "", "PostgreSQL is not supported yet"},
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
