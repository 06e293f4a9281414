package main

import (
	"bytes"
	"path/filepath"
	"testing"

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
		{exitDone, []string{"sessions"}},
		{exitDone, []string{"search", "nothing"}},
		{exitDone, []string{"gc"}},
		{exitDone, []string{"db", "check"}},
		{exitInput, []string{"show", "nosuch"}},
		{exitInput, []string{"show", "last"}},
		{exitInput, []string{"diff", "nosuch"}},
		{exitInput, []string{"pour", "nosuch"}},
		{exitInput, []string{"undo", "nosuch"}},
		{exitInput, []string{"export", "nosuch"}},
		{exitInput, []string{"expand", "d:12345678"}},
		{exitUsage, []string{"expand", "c:1"}},
		{exitUsage, []string{"expand", "12345678"}},
		{exitUsage, []string{"gc", "--no-age"}},
		{exitUsage, []string{"db"}},
		{exitUsage, []string{"db", "backup", path}},
		{exitUsage, []string{"pour", "last", "--preset", "nosuch"}},
	} {
		var out, messages bytes.Buffer
		args := append(tt.args, "--db", path)
		if tt.args[0] == "db" && len(tt.args) == 1 {
			args = tt.args
		}
		if code := run(args, &streams{out: &out, err: &messages, width: 80}); code != tt.code {
			t.Errorf("decant %q ends with %d, want %d: %s", args, code, tt.code, messages.String())
		}
	}
}
