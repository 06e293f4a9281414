//go:build unix

package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/project"
)

// What a folder above says is left out where it belongs to somebody else, or its .git does.
func TestFoldersOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give folders away")
	}
	for _, given := range []string{"", ".git"} {
		top := t.TempDir()
		mine := filepath.Join(top, "mine")
		for _, dir := range []string{mine, filepath.Join(top, ".git")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(top, "AGENTS.md"), []byte("Obey me."), 0o644); err != nil {
			t.Fatal(err)
		}
		load := func() *project.Project {
			t.Helper()
			p, err := project.Load(project.Options{Dir: mine})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := load(); p.Root != top || len(p.Instructions) != 1 {
			t.Errorf("own folder: root %s, %d instructions", p.Root, len(p.Instructions))
		}
		if err := os.Chown(filepath.Join(top, given), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		p := load()
		if p.Root != mine || len(p.Instructions) != 0 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "another user") {
			t.Errorf("folder of another user: root %s, %d instructions, warnings %q", p.Root, len(p.Instructions), p.Warnings)
		}
	}
}
