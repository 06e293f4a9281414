package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claude-mem keeps what it has observed in a table of its own database. Its titles wait for a yes, those of other projects
// stay where they are, and nothing is written to that database.
func TestClaudeMemIsImported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	name := filepath.Join(t.TempDir(), "claude-mem.db")
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT NOT NULL, type TEXT NOT NULL, title TEXT, subtitle TEXT, created_at_epoch INTEGER NOT NULL);
		INSERT INTO observations (project, type, title, subtitle, created_at_epoch) VALUES
			('shop', 'decision', 'Prices are kept in cents', 'floats rounded orders wrongly', 2),
			('shop', 'discovery', NULL, NULL, 3),
			('other', 'decision', 'Deploys happen on Fridays', NULL, 1)`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	store := filepath.Join(t.TempDir(), "d.db")
	for _, args := range [][]string{
		{"notebook", "init", "--dir", dir, "--db", store},
		{"notebook", "import", "--dir", dir, "--db", store, name},
		{"notebook", "import", "--dir", dir, "--db", store, name}, // once more brings nothing more
		{"notebook", "list", "--dir", dir, "--db", store},
	} {
		said.Reset()
		if code := run(args, &streams{in: strings.NewReader(""), out: &said, err: &said, width: 200}); code != 0 {
			t.Fatalf("%v: code %d\n%s", args, code, said.String())
		}
	}
	if n := strings.Count(said.String(), "Prices are kept in cents: floats rounded orders wrongly"); n != 1 || strings.Contains(said.String(), "Fridays") {
		t.Errorf("want the one observation of this project, got\n%s", said.String())
	}
	after, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(before, after) {
		t.Error("the database of claude-mem was changed", err)
	}
}
