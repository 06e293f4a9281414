package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/decantdev/decant/store/sqlite"
)

// plans explains the statements of a package on a new database, and returns those that read a whole table or sort, with the
// lines of their plans that say so. A statement that cannot be explained is among them, with the reason.
func plans(folder, file string) (map[string][]string, error) {
	found, err := statements(folder)
	if err != nil {
		return nil, err
	}
	made, err := sqlite.Open(context.Background(), file, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := made.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	if err != nil {
		return nil, err
	}
	inTriggers, err := triggers(db)
	out := map[string][]string{}
	for _, statement := range append(found, inTriggers...) {
		key := firstWords(statement)
		for _, line := range explain(db, statement) {
			if !slices.Contains(out[key], line) {
				out[key] = append(out[key], line)
				slices.Sort(out[key])
			}
		}
	}
	return out, errors.Join(err, db.Close())
}

// firstWords names a statement.
func firstWords(statement string) string {
	s := strings.Join(strings.Fields(statement), " ")
	if len(s) > 120 {
		s = s[:120]
	}
	return s
}

// bad are lines of plans that say that a table is read whole or rows are sorted, or a part of them.
var bad = regexp.MustCompile(`^(SCAN|USE TEMP B-TREE) `)

// fine are those of them that are neither: a virtual table that is searched by its own index, rows of a subquery or of none.
var fine = regexp.MustCompile(`VIRTUAL TABLE INDEX|^SCAN (\d+ )?CONSTANT ROW|^SCAN \(`)

// explain returns the lines of a statement's plan that are bad.
func explain(db *sql.DB, statement string) (out []string) {
	if _, hole, ok := strings.Cut(statement, holeBegins); ok {
		name, _, _ := strings.Cut(hole, holeEnds)
		return []string{"not explained: what is " + name + "?"}
	}
	rows, err := db.Query("EXPLAIN QUERY PLAN "+statement, make([]any, strings.Count(statement, "?"))...)
	if err != nil {
		return []string{"not explained: " + err.Error()}
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			return []string{"not explained: " + err.Error()}
		}
		if bad.MatchString(line) && !fine.MatchString(line) {
			out = append(out, line)
		}
	}
	if err := rows.Err(); err != nil {
		out = append(out, "not explained: "+err.Error())
	}
	return out
}

var (
	rowOfTrigger = regexp.MustCompile(`(?i)\b(new|old)\.\w+`)
	bodyOf       = regexp.MustCompile(`(?is)\bBEGIN\b(.*)\bEND\b`)
)

// triggers returns the statements in triggers, which are not a part of the plans of those that set them off.
func triggers(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		body := bodyOf.FindStringSubmatch(rowOfTrigger.ReplaceAllString(text, "?"))
		for _, statement := range strings.Split(body[1], ";") {
			if s := strings.TrimSpace(statement); s != "" && !strings.HasPrefix(s, "SELECT RAISE") {
				out = append(out, s)
			}
		}
	}
	return out, rows.Err()
}
