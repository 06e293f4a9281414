package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/decantdev/decant/internal/notebook/folder"
)

// A skill is written where it says, and over nothing that is there.
func TestASkillStaysInItsFolder(t *testing.T) {
	outside := t.TempDir()
	t.Chdir(t.TempDir())
	name := filepath.Join(".claude", "skills", "before-push", "SKILL.md")
	if err := errors.Join(os.Mkdir(".claude", 0o700), os.Symlink(outside, filepath.Join(".claude", "skills"))); err != nil {
		t.Fatal(err)
	}
	if err := writeSkill(name, "one"); !errors.Is(err, folder.ErrLink) {
		t.Errorf("where a link leads out: %v", err)
	}
	if made, err := os.ReadDir(outside); err != nil || len(made) > 0 {
		t.Errorf("outside is %v, %v", made, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(".claude", "skills")), writeSkill(name, "one")); err != nil {
		t.Fatal(err)
	}
	if err := writeSkill(name, "two"); err == nil {
		t.Error("what is there was written over")
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "one" {
		t.Errorf("it says %q, %v", text, err)
	}
}
