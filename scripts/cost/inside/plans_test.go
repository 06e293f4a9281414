package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source has statements in all the ways in which a store puts them together.
const source = `package p

const columns = "id, tenant"

const whole = "SELECT whole FROM t"

func (x *x) columnsOf() string { return "a.b" }

func (x *x) list(parts []string, in string) {
	where, args := "tenant = ?", 1
	if in != "" {
		where += " AND id = ?"
	}
	x.rows("SELECT "+columns+" FROM holds WHERE "+where+" AND hash IN (?" + strings.Repeat(", ?", 3) + ")")
	x.rows("SELECT " + x.columnsOf() + " FROM a")
	for _, name := range []string{"packs", "blobs"} {
		x.exec("DELETE FROM " + name)
	}
	x.remembered("kind = ?")
	x.exec("UPDATE t SET " + strings.Join(parts, ", "))
}

func (x *x) remembered(where string) { x.rows(` + "`SELECT id\n\tFROM memories WHERE `" + ` + where) }
`

func TestStatementsAreFoundInTheSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := statements(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = firstWords(got[i])
	}
	want := []string{
		"DELETE FROM blobs", "DELETE FROM packs", "SELECT a.b FROM a", "SELECT id FROM memories WHERE kind = ?",
		"SELECT id, tenant FROM holds WHERE tenant = ? AND hash IN (?, ?)", "SELECT id, tenant FROM holds WHERE tenant = ? AND id = ? AND hash IN (?, ?)",
		"SELECT whole FROM t", `UPDATE t SET «strings.Join(parts, ", ")»`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("statements\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What reads a whole table is found, in code and in triggers; what goes by an index is not.
func TestPlansOfTheStore(t *testing.T) {
	got, err := plans("../../../store/sqlite", filepath.Join(t.TempDir(), "decant.db"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := got["SELECT count(*) FROM blobs"]; !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, "SCAN blobs") }) {
		t.Errorf("the plan for counting blobs: %q", lines)
	}
	if lines := got["SELECT version FROM conversations WHERE tenant = ? AND id = ?"]; lines != nil {
		t.Errorf("what goes by the primary key is said to read a whole table: %q", lines)
	}
}
