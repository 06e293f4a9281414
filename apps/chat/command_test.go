package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/project"
)

// A command of the project is somebody else's words: it can have files of the project read, and no others. The user can, in what is typed behind it and in
// commands of their own.
func TestCommandsOfTheProjectReadItsFilesOnly(t *testing.T) {
	dir := t.TempDir()
	root, home := filepath.Join(dir, "p"), filepath.Join(dir, "u")
	outside := filepath.Join(dir, "secret")
	for name, text := range map[string]string{
		outside: "SECRET", filepath.Join(root, ".git/HEAD"): "x", filepath.Join(root, "notes.txt"): "NOTES",
		filepath.Join(root, ".decant/commands/notes.md"): "See @notes.txt, @nobody and $ARGUMENTS", filepath.Join(root, ".decant/commands/abs.md"): "See @" + outside,
		filepath.Join(root, ".decant/commands/up.md"): "See @../secret", filepath.Join(root, ".decant/commands/link.md"): "See @link",
		filepath.Join(root, ".decant/commands/place.md"): "See @../$1", filepath.Join(home, "commands/own.md"): "See @" + outside,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	p, err := project.Load(project.Options{Dir: root, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"/abs", "/up", "/link", "see @link", "/place secret"} {
		if said, _, err := Typed(p, text); err == nil || !strings.Contains(err.Error(), "outside of the project") || strings.Contains(said, "SECRET") {
			t.Errorf("%s: %q, %v", text, said, err)
		}
	}
	for text, want := range map[string]string{"/notes": "NOTES", "/notes @" + outside: "SECRET", "/own": "SECRET", "see @../secret": "SECRET"} {
		if said, _, err := Typed(p, text); err != nil || !strings.Contains(said, want) {
			t.Errorf("%s: %q, %v", text, said, err)
		}
	}
}
