//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/decantdev/decant/internal/process"
)

// At a terminal review asks about each observation; without one it asks nothing and changes nothing.
func TestNotebookReview(t *testing.T) {
	dir := t.TempDir()
	common := []string{"--dir", dir, "--db", filepath.Join(dir, "d.db")}
	notebook := func(in io.Reader, terminal bool, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		all := append(append([]string{"notebook"}, args...), common...)
		s := &process.Process{Args: all, Environ: []string{"HOME=" + dir}, In: in, Out: &out, Err: &out, Width: 80, Terminal: terminal}
		if code := run(s); code != 0 {
			t.Fatalf("%v: code %d\n%s", args, code, out.String())
		}
		return out.String()
	}
	none := strings.NewReader("")
	notebook(none, false, "init")
	for n := range 3 {
		text := fmt.Sprintf("pattern number %d", n)
		for range 6 {
			notebook(none, false, "observe", text)
		}
	}
	if out := notebook(none, false, "review"); strings.Contains(out, "[y,n") || strings.Count(out, "pattern number") < 3 {
		t.Errorf("without a terminal:\n%s", out)
	}
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	defer ours.Close()
	defer theirs.Close()
	if _, err := ours.WriteString("?\ny\nn\ne\nanother text\n"); err != nil {
		t.Fatal(err)
	}
	out := notebook(theirs, true, "review")
	if !strings.Contains(out, "y - make it a rule") || strings.Count(out, "[y,n,e,s,q,?]") != 4 {
		t.Errorf("at a terminal:\n%s", out)
	}
	rules, err := os.ReadFile(filepath.Join(dir, ".decant", "notebook", "ACTIVE_RULES.md"))
	if err != nil || strings.Count(string(rules), "## Rule #") != 2 || !strings.Contains(string(rules), "another text") {
		t.Errorf("%v\n%s", err, rules)
	}
	if out := notebook(none, false, "review"); !strings.Contains(out, "nothing to review") {
		t.Errorf("afterwards:\n%s", out)
	}
}
