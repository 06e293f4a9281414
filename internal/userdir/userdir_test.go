package userdir

import (
	"path/filepath"
	"testing"
)

func TestData(t *testing.T) {
	for _, tt := range []struct{ system, xdg, local, want string }{
		{"linux", "", "", "/h/u/.local/share/decant"},
		{"linux", "/data", "", "/data/decant"},
		{"linux", "relative", "", "/h/u/.local/share/decant"},
		{"darwin", "", "", "/h/u/Library/Application Support/decant"},
		{"darwin", "/data", "", "/data/decant"},
		{"windows", "", "/local", "/local/decant"},
		{"windows", "", "", "/h/u/AppData/Local/decant"},
	} {
		env := func(name string) string {
			return map[string]string{"XDG_DATA_HOME": tt.xdg, "LocalAppData": tt.local, "HOME": "/h/u", "USERPROFILE": "/h/u"}[name]
		}
		got, err := data(tt.system, env)
		if err != nil || filepath.ToSlash(got) != tt.want {
			t.Errorf("%s with XDG_DATA_HOME=%q, LocalAppData=%q: %q, %v; want %q", tt.system, tt.xdg, tt.local, got, err, tt.want)
		}
	}
}

func TestNoHome(t *testing.T) {
	env := func(string) string { return "" }
	for name, find := range map[string]func(func(string) string) (string, error){"Home": Home, "Data": Data, "Config": Config, "State": State} {
		if dir, err := find(env); err == nil {
			t.Errorf("%s without an environment returns %q", name, dir)
		}
	}
}
