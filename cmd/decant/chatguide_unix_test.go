//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/project"
)

// guide returns the lines of docs/CHAT.md.
func guide(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../../docs/CHAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

// What docs/CHAT.md has people type is run as it stands there, and prints what stands below it.
func TestTheGuideOfChat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"question.txt": "The color is green. What is the color?", "port.json": `{"type":"integer"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "decant")); err != nil {
		t.Fatal(err)
	}
	lines, ran := guide(t), 0
	for i, l := range lines {
		command, ok := strings.CutPrefix(l, "    $ ")
		if !ok {
			continue
		}
		var want []string
		for _, l := range lines[i+1:] {
			text, ok := strings.CutPrefix(l, "    ")
			if !ok || strings.HasPrefix(text, "$ ") {
				break
			}
			want = append(want, text)
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME=")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != strings.Join(want, "\n") {
			t.Errorf("%s: %v, it prints\n%s\nand not\n%s", command, err, got, strings.Join(want, "\n"))
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("%d commands of the guide were run", ran)
	}
}

// The settings in docs/CHAT.md are ones that can be read, by their names.
func TestTheSettingsInTheGuideOfChat(t *testing.T) {
	var settings []string
	for _, l := range guide(t) {
		text, ok := strings.CutPrefix(l, "    ")
		if ok && (len(settings) > 0 || strings.HasPrefix(text, "model: ")) && text != "" {
			settings = append(settings, text)
		} else if len(settings) > 0 {
			break
		}
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(strings.Join(settings, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := project.Load(project.Options{Dir: t.TempDir(), Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Settings; s.Threshold == nil || *s.Threshold != 80_000 || s.Tail == nil || *s.Tail != 6 || s.Compaction == nil || len(s.Allow) != 2 || s.MaxBudget != 2.5 {
		t.Errorf("%+v", s)
	}
}
