package reduce

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
)

var update = flag.Bool("update", false, "rewrite the expected part of the golden files")

// TestGolden runs the reductions named in each file of testdata over the conversation in it. The
// first section, "policy", holds lines of the form "stub keep=1"; the last, "want", the decisions.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(src)
			n := len(a.Files)
			if n < 3 || a.Files[0].Name != "policy" || a.Files[n-1].Name != "want" {
				t.Fatal("want a policy first, a conversation, and the expected decisions last")
			}
			c := conversation(a.Files[1 : n-1])
			got := print(run(t, c, string(a.Files[0].Data)))
			if *update {
				a.Files[n-1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[n-1].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// run applies a policy: one reduction per line, with settings.
func run(t *testing.T, c *decant.Conversation, policy string) []decant.Decision {
	t.Helper()
	var out []decant.Decision
	for line := range strings.Lines(policy) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		set := map[string]string{}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			set[name] = value
		}
		num := func(name string) int { n, _ := strconv.Atoi(set[name]); return n }
		o := options()
		o.KeepRounds = num("keep")
		o.Exclude, o.Pinned = list(set["exclude"]), list(set["pin"])
		out = append(out, reduction(t, words[0], Of(context.Background(), c, o), num)...)
	}
	return out
}

func options() Options {
	return Options{
		Counter: quarters{},
		Mask:    func(s string) string { return strings.ReplaceAll(s, "sk-live-0123456789abcdef", "[secret]") },
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func reduction(t *testing.T, name string, s *Subject, num func(string) int) []decant.Decision {
	trimming := Trimming{
		Over: num("over"), Head: num("head"), Tail: num("tail"), After: num("after"),
		Literal: num("literal") > 0,
	}
	switch name {
	case "superseded":
		return Superseded(s)
	case "duplicate":
		return Duplicate(s)
	case "stub":
		return Stub(s)
	case "trim":
		return Trim(s, trimming)
	case "clear":
		return Clear(s, Clearing{After: num("after"), Keep: num("keep"), Least: num("least")})
	case "terminal":
		return Terminal(s)
	case "arguments":
		return Arguments(s)
	case "thinking":
		return Thinking(s, Thoughts{KeepTurns: num("turns"), Keep: num("keep"), Through: num("through")})
	case "first_sight":
		return FirstSight(s, trimming)
	}
	t.Fatalf("unknown reduction %q", name)
	return nil
}

// TestGoldenFilesEndWithNewline keeps an editor from changing what a golden file means.
func TestGoldenFilesEndWithNewline(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(src, []byte("\n")) {
			t.Errorf("%s: no newline at the end (%v)", file, err)
		}
	}
}
