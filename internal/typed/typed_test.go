package typed_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant/internal/typed"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each file of testdata/words is named after an agent and holds pairs of a text and the user's words
// in it.
func TestWordsGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/words/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files: ", err)
	}
	for _, name := range files {
		agent := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(agent, func(t *testing.T) { goldenWords(t, name, agent) })
	}
}

func goldenWords(t *testing.T, name, agent string) {
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for i := 0; i+1 < len(a.Files); i += 2 {
		in, want := a.Files[i], &a.Files[i+1]
		text := strings.TrimSuffix(string(in.Data), "\n")
		got := typed.Words(agent, text)
		if got != "" {
			got += "\n"
		}
		if *update {
			changed = changed || got != string(want.Data)
			want.Data = []byte(got)
			continue
		}
		if d := cmp.Diff(string(want.Data), got); d != "" {
			t.Errorf("%s (-want +got):\n%s", in.Name, d)
		}
	}
	if changed {
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWordsKeepsAnotherAgentsText(t *testing.T) {
	const text = "<environment_context>\n<cwd>/repo</cwd>\n</environment_context>"
	if got := typed.Words(typed.ClaudeCode, text); got != text {
		t.Errorf("got %q: Codex's text means nothing in Claude Code", got)
	}
	if got := typed.Words("", text); got != "" {
		t.Errorf("got %q, want nothing for an agent that is not known", got)
	}
}

// Finding the user's words takes parts of the text away and adds nothing but blanks.
func FuzzWords(f *testing.F) {
	files, _ := filepath.Glob("testdata/words/*.txtar")
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			f.Add(string(bytes.TrimSpace(file.Data)))
		}
	}
	for _, frame := range frames {
		f.Add(framed(frame, "stop") + framed(frame, "and wait") + "\nFix it.")
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, agent := range []string{"", typed.ClaudeCode, typed.Codex, typed.Opencode, typed.Pi} {
			words := typed.Words(agent, text)
			if !isSubsequence(strings.ReplaceAll(words, " ", ""), text) {
				t.Errorf("%s: the words %q are not in the text %q", agent, words, text)
			}
		}
	})
}

func isSubsequence(part, whole string) bool {
	for i := 0; i < len(whole) && len(part) > 0; i++ {
		if whole[i] == part[0] {
			part = part[1:]
		}
	}
	return part == ""
}
