package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A piece of what was forgotten that stands somewhere else in the file, planted there by hand, is found and said.
func TestForgetSaysWhatItCouldNotRemove(t *testing.T) {
	for planted, want := range map[bool]int{false: exit.Done, true: exit.Failed} {
		path := filepath.Join(t.TempDir(), "a.db")
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const text = "the treasure is buried under the third palm behind the lighthouse"
		h := decant.HashText(text)
		_, err = db.Commit(t.Context(), &store.Batch{
			Key: store.Key{ID: "c1"}, Create: &store.Creation{Session: "s"}, Blobs: [][]byte{[]byte(text)},
			Entries: []store.Entry{{Chain: h, Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: 1}}},
		})
		if err == nil && planted {
			err = db.Audit(t.Context(), store.Act{Action: "note", Detail: text})
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		var out, messages bytes.Buffer
		code := run(&process.Process{Args: []string{"forget", "c1", "--yes", "--db", path}, Out: &out, Err: &messages, Width: 80})
		says := messages.String()
		if code != want || strings.Contains(says, "none left") == planted || strings.Contains(says, "are still in "+path) != planted {
			t.Errorf("planted %t: ended with %d, want %d: %s", planted, code, want, says)
		}
	}
}
