package triage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/internal/process"
)

// The short names count, and those of triage count more.
func TestSettings(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("ignore.yaml", "- class: X\n")
	write("books/slow.md", "---\nclasses: [Timeout]\n---\nWait.\n")
	file := write("triage.yaml", "sources: [{type: log, files: [a.log]}]\nrepos: [{name: shop, dir: .., toolchain: [~/go/pkg/mod, /opt/go, ../deps]}]\nmodel: m\nmax_errors: 7\ntokens_per_error: 1000\nby: transaction\nignore: ignore.yaml\nrunbooks: books\nlayers: [-thinking, -prior]\npreset: mine.yaml\n")
	env := &process.Process{Environ: []string{"HOME=" + home, "USERPROFILE=" + home, "DECANT_TRIAGE_MODEL=n", "DECANT_TRIAGE_TOKENS_PER_ERROR=25000", "DECANT_TRIAGE_TOKENS_PER_RUN=90000"}}
	read := func(name string, p *process.Process) (*triage.Settings, error) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return triage.ReadSettings(triage.File{Name: name, Data: data}, p)
	}
	s, err := read(file, env)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Given || s.Model != "n" || s.Most != 7 || s.PerError != 25000 || s.PerRun != 90000 || s.By != group.ByTransaction || len(s.Sources) != 1 || len(s.Ignore) != 1 || len(s.Runbooks) != 1 ||
		s.Repos[0].Dir != filepath.Join(dir, "..") || s.Off != investigate.WithoutLayers(investigate.LayerThinking, investigate.LayerPrior) || s.Preset != filepath.Join(dir, "mine.yaml") {
		t.Errorf("%+v", s)
	}
	none := new(process.Process)
	if got := s.Repos[0].Toolchain; got[0] != filepath.Join(home, "go/pkg/mod") || got[1] != "/opt/go" || got[2] != filepath.Join(dir, "..", "deps") {
		t.Errorf("the tool chain is %q", got)
	}
	s, err = triage.ReadSettings(triage.File{Name: filepath.Join(dir, "none.yaml")}, none)
	if err != nil || s.Given || len(s.Sources) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	if s.Fill(); s.Most != 5 || s.Parallel != 3 || s.PerError != 30_000 || s.PerRun != 200_000 || s.By != group.ByFingerprint {
		t.Errorf("nothing said: %+v", s)
	}
	for want, text := range map[string]string{
		"bad.yaml": "modell: x\n", "by:": "by: day\n", "negative": "max_errors: -1\n", "ignore:": "ignore: nowhere.yaml\n", "bad.yaml:2": "sources:\n  - type: fax\n", "runbooks:": "runbooks: nowhere\n", "layers:": "layers: [cashe]\n",
	} {
		if _, err := read(write("bad.yaml", text), none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := read(file, &process.Process{Environ: append(env.Environ, "DECANT_TRIAGE_MAX_ERRORS=many")}); err == nil || !strings.Contains(err.Error(), "MAX_ERRORS") {
		t.Errorf("a variable that is no number: %v", err)
	}
	if _, err := read(write("new.yaml", strings.ReplaceAll(triage.Template, "%s", "shop")), none); err != nil {
		t.Errorf("the template: %v", err)
	}
}
