package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
)

func TestBudgets(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"budgets: [{per: day, usd: 5}, {per: conversation, tokens: 2000000}]", ""},
		{"budgets: [{per: month, usd: 5}, {per: tenant, tokens: 1}]", ""},
		{"budgets: [{per: week, usd: 5}]", "budgets[0].per"},
		{"budgets: [{per: day, usd: 5}, {per: day}]", "budgets[1]"},
		{"budgets: [{per: day, usd: -5}]", "budgets[0]"},
		{"budgets: [{per: day, eur: 5}]", "eur"},
	} {
		name := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(name, []byte(tt.yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Sources{File: name})
		switch {
		case tt.want == "" && (err != nil || len(c.Budgets) != 2 || c.Budgets[0].USD != 5):
			t.Errorf("%s: got %+v, %v", tt.yaml, c, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want an error that names %s", tt.yaml, err, tt.want)
		}
	}
}
