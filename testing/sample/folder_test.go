package sample_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/sample"
)

const folderYAML = `name: pets
now: 2026-10-02T06:00:00Z
repos:
  - name: acme/pets
    patches: repos/pets
    services: [pets]
    paths: [{from: /srv/pets/}]
    tags: {v1: 1}
`

const folderEvent = `{"time": "2026-10-01T10:00:00Z", "service": "pets", "release": "v1", "class": "KeyError", "message": "'rex'", "frames": [{"file": "/srv/pets/pets.py", "line": 2, "function": "age", "in_app": true}]}` + "\n"

// folder writes a sample as docs/TRIAGE.md, "The sample and the stand-ins", says.
func folder(t *testing.T) string {
	t.Helper()
	dir, work := t.TempDir(), t.TempDir()
	put(t, filepath.Join(work, "pets.py"), "def age(pets):\n    return pets['rex']\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Pets"}, {"format-patch", "-q", "--root", "-o", filepath.Join(dir, "repos", "pets"), "HEAD"}} {
		cmd := exec.Command("git", append([]string{"-C", work, "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put(t, filepath.Join(dir, "sample.yaml"), folderYAML)
	put(t, filepath.Join(dir, "events.jsonl"), folderEvent)
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// all does everything that is done with a sample.
func all(t *testing.T, dir string) error {
	s, err := sample.Open(dir)
	if err != nil {
		return err
	}
	if _, err := s.Events(); err != nil {
		return err
	}
	if _, err := s.Runbooks(); err != nil {
		return err
	}
	_, err = s.Repos(t.TempDir())
	return err
}

// One that follows the documentation works, and each mistake in one is named with its file, and where
// it has lines, its line.
func TestAFolderOfSomebodyElse(t *testing.T) {
	if err := all(t, folder(t)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, from, to, want string }{
		{"sample.yaml", "name: pets", "name: my pets", "sample.yaml:1: name is a word"},
		{"sample.yaml", "now: 2026-10-02T06:00:00Z\n", "", "sample.yaml:1: now is missing"},
		{"sample.yaml", "2026-10-02T06:00:00Z", "yesterday", "sample.yaml:2: now is no time"},
		{"sample.yaml", "    services:", "    servces:", "sample.yaml: [6:"},
		{"sample.yaml", "    patches: repos/pets\n", "", "sample.yaml:4: repository acme/pets: name either patches or dir"},
		{"sample.yaml", "repos/pets", "../pets", "sample.yaml:4: repository acme/pets: patches is a folder below"},
		{"sample.yaml", "repos/pets", "repos/cats", "there are no patches in repos/cats"},
		{"sample.yaml", "{v1: 1}", "{v1: 3}", "the tag v1 stands behind patch 3 of 1"},
		{"sample.yaml", "{v1: 1}", "{v 1: 1}", "sample.yaml:4: repository acme/pets: \"v 1\" is no name for a tag"},
		{"events.jsonl", `"time": "2026-10-01T10:00:00Z", `, "", "events.jsonl:1: time is missing"},
		{"events.jsonl", `"class": "KeyError", "message": "'rex'", `, "", "events.jsonl:1: class and message are missing"},
		{"events.jsonl", `"class"`, `"klass"`, "events.jsonl:1: "},
		{"events.jsonl", `"line": 2`, `"line": "two"`, "events.jsonl:1: "},
		{"events.jsonl", "}]}\n", "}]}\nnonsense\n", "events.jsonl:2: "},
	} {
		dir := folder(t)
		name := filepath.Join(dir, tt.file)
		b, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(b), tt.from) {
			t.Fatalf("%s has no %q: %v", tt.file, tt.from, err)
		}
		put(t, name, strings.Replace(string(b), tt.from, tt.to, 1))
		if err := all(t, dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q in place of %q: %v, want %q", tt.to, tt.from, err, tt.want)
		}
	}
}
