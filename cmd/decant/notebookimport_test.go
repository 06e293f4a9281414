package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// memColumns are columns of claude-mem's table of observations, by version of the plugin, as it makes them.
var memColumns = map[string]string{
	"Early":   "id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT NOT NULL, type TEXT NOT NULL, title TEXT, subtitle TEXT, created_at_epoch INTEGER NOT NULL",
	"13.25.3": "id INTEGER PRIMARY KEY, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER NOT NULL, merged_into_project TEXT, metadata TEXT",
}

// claude-mem keeps what it has observed in a table of its own database. Its titles wait for a yes, those of other projects
// stay where they are, and nothing is written to that database.
func TestClaudeMemIsImported(t *testing.T) {
	for version, columns := range memColumns {
		t.Run(version, func(t *testing.T) { importClaudeMem(t, columns) })
	}
}

func importClaudeMem(t *testing.T, columns string) {
	t.Helper()

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
	statements := []string{"PRAGMA journal_mode = WAL", "CREATE TABLE observations (" + columns + ")",
		`INSERT INTO observations (memory_session_id, project, type, title, subtitle, created_at_epoch) VALUES
			('a', 'shop', 'decision', 'Prices are kept in cents', 'floats rounded orders wrongly', 2),
			('b', 'shop', 'discovery', NULL, NULL, 3),
			('c', 'shop/pricing', 'decision', 'Taxes are rounded per line', NULL, 4),
			('d', 'shopping', 'decision', 'Lists are sorted', NULL, 5),
			('e', 'other', 'decision', 'Deploys happen on Fridays', NULL, 1)`}
	merged := 0
	if strings.Contains(columns, "merged_into_project") {
		merged = 1
		statements = append(statements, "INSERT INTO observations (memory_session_id, project, type, title, created_at_epoch, merged_into_project) VALUES ('f', 'old', 'decision', 'Stock is counted at night', 6, 'shop')")
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
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
	for want, n := range map[string]int{
		"Prices are kept in cents: floats rounded orders wrongly": 1, "Taxes are rounded per line": 1, "Fridays": 0, "Lists": 0, "Stock is counted": merged,
	} {
		if got := strings.Count(said.String(), want); got != n {
			t.Errorf("%q is there %d times, want %d:\n%s", want, got, n, said.String())
		}
	}
	after, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(before, after) {
		t.Error("the database of claude-mem was changed", err)
	}
}

// A file of another kind, and a database of another program, are named for what they are not.
func TestWhatIsNotClaudeMems(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE notes (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, bytes.Repeat([]byte("This is no database. "), 200), 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "d.db")
	var said bytes.Buffer
	out := &streams{in: strings.NewReader(""), out: &said, err: &said, width: 200}
	if code := run([]string{"notebook", "init", "--dir", dir, "--db", store}, out); code != 0 {
		t.Fatal(said.String())
	}
	for _, name := range []string{other, text} {
		said.Reset()
		code := run([]string{"notebook", "import", "--dir", dir, "--db", store, name}, out)
		if want := filepath.Base(name) + ": " + notClaudeMem; code == 0 || !strings.Contains(said.String(), want) {
			t.Errorf("exit %d, %q, want %q", code, said.String(), want)
		}
	}
}
