package sample_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/testing/sample"
)

// A world is the bundled sample with a reader of its programs.
type world struct {
	sample *sample.Sample
	reader *code.Reader
	events map[string]source.Event
}

func newWorld(t *testing.T, s *sample.Sample) *world {
	t.Helper()
	repos, err := s.Repos(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := code.New(code.Options{Repos: repos})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Events()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{sample: s, reader: r, events: map[string]source.Event{}}
	for _, e := range all {
		w.events[e.ID] = e
	}
	return w
}

func bundled(t *testing.T) *sample.Sample {
	t.Helper()
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text returns a line of a file at a version.
func (w *world) text(t *testing.T, at code.Version, name string, line int) string {
	t.Helper()
	a, err := w.reader.ReadFile(t.Context(), at, name, line, line)
	if err != nil || len(a.Shown) != 1 {
		t.Fatalf("%s, line %d at %s: %v", name, line, at.SHA, err)
	}
	return strings.TrimSpace(a.Shown[0].Text)
}

// version returns the code that an event comes from.
func (w *world) version(t *testing.T, e source.Event) code.Version {
	t.Helper()
	at, err := w.reader.Version(t.Context(), w.sample.Services()[e.Service], e.Release)
	if err != nil || at.Notice != "" {
		t.Fatalf("the release %s of %s: %+v, %v", e.Release, e.Service, at, err)
	}
	return at
}

// Each frame of the programs' own is a line of a file at the commit of the release.
func TestFramesAreThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bundled(t))
	for _, e := range w.events {
		at, own := w.version(t, e), 0
		for _, f := range e.Frames {
			name, ok := w.reader.Find(t.Context(), at, f)
			if !f.InApp && !ok {
				continue
			}
			if !ok || w.text(t, at, name, f.Line) == "" {
				t.Errorf("event %s: there is no line %d of %s at %s", e.ID, f.Line, f.File, e.Release)
			}
			own++
		}
		if own < 2 || e.Time.After(w.sample.Now) || e.Class == "" || e.Message == "" {
			t.Errorf("event %s: %d frames: %+v", e.ID, own, e)
		}
	}
}

// The truth is true: each defect is where it is said to be, since the commit that is said to have brought it, and each event has one.
func TestTruth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bundled(t))
	defects, err := sample.Defects(os.DirFS("shop"))
	if err != nil || len(defects) != 12 {
		t.Fatalf("%d defects, %v", len(defects), err)
	}
	known := map[string]string{}
	for _, d := range defects {
		if len(d.Events) == 0 || d.Cause == "" || d.Kind == "" {
			t.Errorf("%+v", d)
		}
		for _, id := range d.Events {
			if _, ok := w.events[id]; !ok || known[id] != "" {
				t.Errorf("event %s of %s: there is none, or %s has it", id, d.Name, known[id])
			}
			known[id] = d.Name
		}
		if d.File != "" {
			w.holds(t, d)
		}
	}
	if len(known) != len(w.events) {
		t.Errorf("%d of %d events have a defect", len(known), len(w.events))
	}
}

// holds checks where a defect is.
func (w *world) holds(t *testing.T, d sample.Defect) {
	t.Helper()
	at := w.version(t, w.events[d.Events[len(d.Events)-1]])
	if got := w.text(t, at, d.File, d.Line); got != d.Text {
		t.Errorf("%s: line %d of %s is %q, want %q", d.Name, d.Line, d.File, got, d.Text)
	}
	named := slices.ContainsFunc(w.events[d.Events[0]].Frames, func(f source.Frame) bool {
		name, ok := w.reader.Find(t.Context(), at, f)
		return ok && name == d.File
	})
	if !named && d.Kind != "bad settings" {
		t.Errorf("%s: no frame is in %s", d.Name, d.File)
	}
	if d.Commit == "" {
		return
	}
	a, err := w.reader.Diff(t.Context(), d.Repo, d.Commit, d.File)
	if err != nil || !strings.Contains(a.Text, "+\t") || !strings.Contains(a.Text, d.Text) {
		t.Errorf("%s: the commit %s did not bring it: %v\n%s", d.Name, d.Commit, err, a.Text)
	}
	for _, s := range d.Suspect {
		if _, err := w.reader.Diff(t.Context(), d.Repo, s, ""); err != nil || s == d.Commit {
			t.Errorf("%s: the suspect %s: %v", d.Name, s, err)
		}
	}
}

// Nobody who investigates is shown the truth: neither the program has it nor the repositories.
func TestTruthIsHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bundled(t))
	for _, repo := range w.reader.Repos() {
		at, err := w.reader.Version(t.Context(), repo.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"truth", "defect", "seeded", "(?i)off by one"} {
			if a, err := w.reader.Search(t.Context(), at, word, ""); err != nil || len(a.Shown) > 0 {
				t.Errorf("%s: %v\n%s", word, err, a.Text)
			}
		}
	}
}

// A sample in a folder is as good as the bundled one, and a repository that was made is found again.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("shop")); err != nil {
		t.Fatal(err)
	}
	s, err := sample.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	first, err := s.Repos(folder)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bundled(t).Repos(folder)
	if err != nil || again[0].Dir != first[0].Dir || again[1].Dir != first[1].Dir {
		t.Errorf("%+v, %v; the first time %+v", again, err, first)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "making-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if books, err := s.Runbooks(); err != nil || len(books) != 2 || !books[1].For("TimeoutError", "billing") {
		t.Errorf("%+v, %v", books, err)
	}
	os.WriteFile(filepath.Join(dir, "sample.yaml"), []byte("name: mine\nnow: 2026-11-20T06:00:00Z\nrepos:\n  - {name: a/b, dir: "+first[0].Dir+", services: [x]}\n"), 0o600)
	if s, err = sample.Open(dir); err != nil {
		t.Fatal(err)
	}
	if repos, err := s.Repos(folder); err != nil || repos[0].Dir != first[0].Dir || s.Services()["x"] != "a/b" {
		t.Errorf("a clone in place of patches: %+v, %v", repos, err)
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	const head = "name: x\nnow: 2026-11-20T06:00:00Z\n"
	for text, want := range map[string]string{
		"": "sample.yaml", "name: ../x\n": "name is a word", "name: x\n": "now is missing", head: "repos is missing", head + "repos: [{name: a, patches: a, dir: b}]\n": "either patches or dir",
		head + "repos: [{name: a, patches: ../a}]\n": "below that of the sample", head + "repos: [{name: a, patches: b, tags: {-x: 1}}]\n": "no name for a tag",
		head + "repo: []\n": "repo", head + "repos: [{patches: a}]\n": "no name",
	} {
		dir := t.TempDir()
		if text != "" {
			os.WriteFile(filepath.Join(dir, "sample.yaml"), []byte(text), 0o600)
		}
		if _, err := sample.Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "p"), 0o700)
	os.WriteFile(filepath.Join(dir, "p", "1.patch"), []byte("no patch\n"), 0o600)
	os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte("{\"time\": \"2026-10-01T10:00:00Z\", \"class\": \"E\"}\n\n{\n"), 0o600)
	os.WriteFile(filepath.Join(dir, "sample.yaml"), []byte(head+"repos: [{name: a, patches: p}, {name: b, patches: q}]\n"), 0o600)
	s, err := sample.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repos(t.TempDir()); err == nil || !strings.Contains(err.Error(), "1.patch") {
		t.Errorf("a patch that is none: %v", err)
	}
	if _, err := s.Events(); err == nil || !strings.Contains(err.Error(), "events.jsonl:3: ") {
		t.Errorf("an event that is none: %v", err)
	}
	if _, err := sample.Open(filepath.Join(dir, "none")); err == nil {
		t.Error("no folder")
	}
}
