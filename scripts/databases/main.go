// Databases writes a database of testdata/databases with a program of Decant, which may be of an earlier version: it
// has the program manage some conversations of a recorded session, and notes what it sends of their next requests.
//
// usage: go run ./scripts/databases [-encrypted] PROGRAM
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	_ "modernc.org/sqlite" // to ask a database for its form
)

func main() {
	encrypted := flag.Bool("encrypted", false, "encrypt the database")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/databases [-encrypted] PROGRAM")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := write(ctx, flag.Arg(0), "testdata/databases", *encrypted); err != nil {
		fmt.Fprintln(os.Stderr, "databases:", err)
		os.Exit(1)
	}
}

// write has a program make a database and notes what it sends, in the files of a folder.
func write(ctx context.Context, program, out string, encrypted bool) (err error) {
	p, err := newPlay()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "decant-databases-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := newMachine(program, dir, encrypted)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.api.Close()) }()
	if err := p.history(ctx, m); err != nil {
		return err
	}
	database, err := os.ReadFile(m.db)
	if err != nil {
		return err
	}
	sent, err := p.next(ctx, m) // which changes the database, after it was read
	if err != nil {
		return err
	}
	form, err := formOf(ctx, m.db)
	if err != nil {
		return err
	}
	name := filepath.Join(out, fmt.Sprint("form", form))
	if encrypted {
		name += "-encrypted"
	}
	requests, err := p.requests()
	if err != nil {
		return err
	}
	return errors.Join(
		pack(filepath.Join(out, "requests.json.gz"), requests),
		pack(name+".db.gz", database), pack(name+".json.gz", sent))
}

// formOf returns the number of a database's form.
func formOf(ctx context.Context, path string) (form int, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&form)
	return form, err
}
