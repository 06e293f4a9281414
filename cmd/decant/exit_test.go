package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store/sqlite"
)

// Programs tell by the exit code what to do about a failure.
func TestExitCodesOfStoreCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		code int
		args []string
	}{
		{exit.Done, []string{"sessions"}},
		{exit.Done, []string{"search", "nothing"}},
		{exit.Done, []string{"gc"}},
		{exit.Done, []string{"db", "check"}},
		{exit.BadInput, []string{"show", "nosuch"}},
		{exit.BadInput, []string{"show", "last"}},
		{exit.BadInput, []string{"diff", "nosuch"}},
		{exit.BadInput, []string{"pour", "nosuch"}},
		{exit.BadInput, []string{"undo", "nosuch"}},
		{exit.BadInput, []string{"export", "nosuch"}},
		{exit.BadInput, []string{"expand", "d:12345678"}},
		{exit.BadUsage, []string{"expand", "c:1"}},
		{exit.BadUsage, []string{"expand", "12345678"}},
		{exit.BadUsage, []string{"gc", "--no-age"}},
		{exit.BadUsage, []string{"db"}},
		{exit.BadUsage, []string{"db", "backup", path}},
		{exit.BadUsage, []string{"pour", "last", "--preset", "nosuch"}},
	} {
		var out, messages bytes.Buffer
		args := append(tt.args, "--db", path)
		if tt.args[0] == "db" && len(tt.args) == 1 {
			args = tt.args
		}
		if code := run(&process.Process{Args: args, Out: &out, Err: &messages, Width: 80}); code != tt.code {
			t.Errorf("decant %q ends with %d, want %d: %s", args, code, tt.code, messages.String())
		}
	}
}
