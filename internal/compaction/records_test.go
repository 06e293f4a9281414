package compaction_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/compaction"
)

var update = flag.Bool("update", false, "write the records again")

// The records of the sessions in testdata at three sizes are those in testdata/records, so that a person can read what a
// change makes of them.
func TestRecordsOfSessions(t *testing.T) {
	root := filepath.Join("..", "..", "testdata")
	for _, session := range []string{"claude-code-session", "codex-session"} {
		for _, percent := range []int{5, 10, 20} {
			name := fmt.Sprintf("%s-%02d.md", session, percent)
			t.Run(name, func(t *testing.T) {
				got := record(t, filepath.Join(root, session+".jsonl.gz"), percent)
				golden := filepath.Join(root, "records", name)
				if *update {
					if err := os.WriteFile(golden, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), string(got)); d != "" {
					t.Errorf("the record is another one; go test -update writes it. -want +got\n%s", d)
				}
			})
		}
	}
}

// record returns the record of a session that is made so many percent of its size.
func record(t *testing.T, file string, percent int) []byte {
	t.Helper()
	doc, o := optionsOf(t, file)
	o.Target = func(all int) int { return all * percent / 100 }
	out, err := compaction.File(doc, o)
	if err != nil {
		t.Fatal(err)
	}
	var w bytes.Buffer
	cp := decant.CheckpointIn(out.Plan.Decisions)
	fmt.Fprintf(&w, "%s\n", cp.Summary)
	return w.Bytes()
}
