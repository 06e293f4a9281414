package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// prose is what rounds are cut from, so that making them costs next to nothing.
var prose = func() string {
	var b strings.Builder
	for i := 0; b.Len() < 64_000; i++ {
		fmt.Fprintf(&b, "%.8s says %d. ", decant.HashText(fmt.Sprint(i)), i)
	}
	return b.String()
}()

// text is what the n-th round says: 4 KB.
func text(n int) string {
	return strconv.Itoa(n) + prose[n*37%60_000:][:4000]
}

// commits commits rounds of one conversation to a store.
func commits(file, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	ctx := context.Background()
	db, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return err
	}
	chain := decant.Hash{}
	for i := 0; i < n && err == nil; i++ {
		said := text(i)
		raw := `{"type":"text","text":"` + said + `"}`
		chain = decant.HashText(chain.String() + said)
		b := &store.Batch{Key: store.Key{ID: "conversation"}, Version: int64(i), Blobs: [][]byte{[]byte(raw), []byte(said)}, Entries: []store.Entry{{
			Chain: chain, Raw: decant.HashText(raw), Text: decant.HashText(said),
			Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: i + 1}, Tokens: 1000,
		}}}
		if i == 0 {
			b.Create = &store.Creation{Session: "session"}
		}
		_, err = db.Commit(ctx, b)
	}
	return errors.Join(err, db.Close())
}

// pragmas are those of the store.
const pragmas = "?_txlock=immediate&_pragma=auto_vacuum(incremental)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)" +
	"&_pragma=cache_size(-16000)&_pragma=journal_size_limit(67108864)&_pragma=wal_autocheckpoint(4000)"

// bareCommits commits the same bytes to a table that has nothing but them.
func bareCommits(file, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+file+pragmas)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE IF NOT EXISTS rounds (id INTEGER PRIMARY KEY, raw TEXT, said TEXT)")
	for i := 0; i < n && err == nil; i++ {
		said := text(i)
		_, err = db.Exec("INSERT INTO rounds (raw, said) VALUES (?, ?)", `{"type":"text","text":"`+said+`"}`, said)
	}
	return errors.Join(err, db.Close())
}
