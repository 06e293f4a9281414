package summary_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// want is the file of an archive that holds the expected summary.
const want = "want"

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a := readArchive(t, name)
			s, err := summary.Extract(context.Background(), conversation(t, a), summary.Options{Budget: budgetOf(t, a)})
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				writeArchive(t, name, a, s.Text)
				return
			}
			if d := cmp.Diff(expected(a), s.Text); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func readArchive(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func writeArchive(t *testing.T, name string, a *txtar.Archive, text string) {
	t.Helper()
	if n := len(a.Files); a.Files[n-1].Name == want {
		a.Files = a.Files[:n-1]
	}
	a.Files = append(a.Files, txtar.File{Name: want, Data: []byte(text)})
	if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func expected(a *txtar.Archive) string {
	for _, f := range a.Files {
		if f.Name == want {
			return string(f.Data)
		}
	}
	return ""
}

func budgetOf(t *testing.T, a *txtar.Archive) int {
	t.Helper()
	_, after, _ := strings.Cut(string(a.Comment), "budget: ")
	var n int
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatalf("the archive names no budget: %v", err)
	}
	return n
}

// conversation reads the files of an archive as blocks: "m3 user", "m4 model", "m4 call ID TOOL",
// "m5 result ID", "m5 result ID error", "m6 client", "m7 decant".
func conversation(t *testing.T, a *txtar.Archive) []decant.Message {
	t.Helper()
	var ms []decant.Message
	names := map[string]string{}
	for _, f := range a.Files {
		if f.Name == want {
			break
		}
		w := strings.Fields(f.Name)
		var n int
		if _, err := fmt.Sscanf(w[0], "m%d", &n); err != nil || len(w) < 2 {
			t.Fatalf("file %q is no block", f.Name)
		}
		b := decant.Block{Kind: decant.KindText, Content: decant.Text(strings.TrimSuffix(string(f.Data), "\n"))}
		role := decant.RoleUser
		switch w[1] {
		case "user":
			b.Author = decant.AuthorUser
		case "client":
			b.Author = decant.AuthorClient
		case "decant":
			b.Author = decant.AuthorDecant
		case "model":
			role, b.Author = decant.RoleAssistant, decant.AuthorModel
		case "call":
			role, b.Author, b.Kind, b.CallID, b.Name = decant.RoleAssistant, decant.AuthorModel, decant.KindUse, w[2], w[3]
			names[w[2]] = w[3]
		case "result":
			b.Author, b.Kind, b.CallID, b.Name, b.Error = decant.AuthorTool, decant.KindResult, w[2], names[w[2]], len(w) > 3
		default:
			t.Fatalf("file %q has an unknown author", f.Name)
		}
		if len(ms) == 0 || ms[len(ms)-1].Number != n {
			ms = append(ms, decant.Message{Number: n, Role: role})
		}
		m := &ms[len(ms)-1]
		b.Ref = decant.Ref{Message: n, Block: len(m.Blocks)}
		m.Blocks = append(m.Blocks, b)
	}
	return ms
}

// talk makes a conversation of a txtar text without a comment.
func talk(t *testing.T, text string) []decant.Message {
	t.Helper()
	return conversation(t, txtar.Parse([]byte(strings.TrimSpace(text)+"\n")))
}
