package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A day of eight tasks in 85,000 tokens, of results as its table has them. The session is made up, and each count,
// SHA and outcome is in it once or twice, between pages of what nobody needs again.
var dayTasks = [][]string{
	{"TASK-101", "8f5a2d8", "46 of 46", "removed 14 files"},
	{"TASK-102", "3657021", "43 of 46", "imports fixed"},
	{"TASK-103", "111faab", "51 of 51", "already complete"},
	{"TASK-104", "d384b99", "59 of 59", "8 scenarios added"},
	{"TASK-105", "f26fcf1", "63 of 64", "analytics page shows scores"},
	{"TASK-106", "6b10b9c", "71 of 71", "handler deployed to staging"},
	{"TASK-107", "f9e7792", "74 of 75", "token refresh no longer loops"},
	{"TASK-108", "db4d8fc", "87 of 87", "12 flows covered"},
}

// tokensOf returns how many tokens the texts of a session have.
func tokensOf(t *testing.T, src []byte) (n int) {
	t.Helper()
	doc, err := wire.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	count := token.For(token.Model{}).Count
	for i := range doc.Conversation.Messages {
		for j := range doc.Conversation.Messages[i].Blocks {
			if b := &doc.Conversation.Messages[i].Blocks[j]; b.Content != nil {
				n += count(b.Text())
			}
		}
	}
	return n
}

// Compacted at 50,000 tokens the day is at least 85 % smaller, and every id, SHA, count and outcome is in what is left.
// The notebook has them too, one task each.
func TestTheDayOfEightTasks(t *testing.T) {
	dir := t.TempDir()
	packed, err := os.ReadFile("testdata/eight-task-day.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	src, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	name, out := filepath.Join(dir, "day.jsonl"), filepath.Join(dir, "out.jsonl")
	if err := os.WriteFile(name, src, 0o600); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "d.db")
	for _, args := range [][]string{
		{"compact", "--preset", "coding-session-50", "-o", out, name},
		{"notebook", "init", "--dir", dir, "--db", db},
		{"notebook", "learn", "--dir", dir, "--db", db, name},
		{"notebook", "scan", "--observations", "--tasks", "--dir", dir, "--db", db},
	} {
		var said bytes.Buffer
		if code := run(&process.Process{Args: args, Environ: []string{"HOME=" + dir}, In: strings.NewReader(""), Out: &said, Err: &said, Width: 80}); code != 0 {
			t.Fatalf("%v: code %d\n%s", args, code, said.String())
		}
	}
	left, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	before, after := tokensOf(t, src), tokensOf(t, left)
	t.Logf("%d tokens became %d, %.1f %% fewer", before, after, 100-100*float64(after)/float64(before))
	if before < 85_000 || after*100 > before*15 {
		t.Errorf("%d tokens became %d, want at least 85 %% fewer", before, after)
	}
	done, err := os.ReadFile(filepath.Join(dir, ".decant", "notebook", "DONE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range dayTasks {
		for i, w := range want {
			if !strings.Contains(string(left), w) {
				t.Errorf("%s: %q is not in what is left", want[0], w)
			}
			if i < 2 && !strings.Contains(string(done), w) {
				t.Errorf("%s: %q is not in DONE.md:\n%s", want[0], w, done)
			}
		}
	}
}
