package main

import (
	"context"
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

// open makes an empty database.
func open(file string) error {
	db, err := sqlite.Open(context.Background(), file, sqlite.Options{})
	if err != nil {
		return err
	}
	return db.Close()
}

// counted is how many commits are measured, behind as many as make the store ready.
const counted, ready = 400, 10

// commits measures commits to a store. The size is that of an empty database.
func commits(file string) (s spent, err error) {
	ctx := context.Background()
	if err := open(file); err != nil {
		return s, err
	}
	s.Database = allocated(file).Database
	db, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return s, err
	}
	l := &line{db: db}
	var before spent
	for i := 0; i < ready+counted && err == nil; i++ {
		if i == ready {
			before = allocated(file)
		}
		err = l.commit(ctx)
	}
	after := allocated(file)
	s.Mallocs, s.Bytes = (after.Mallocs-before.Mallocs)/counted, (after.Bytes-before.Bytes)/counted
	return s, errors.Join(err, db.Close())
}

// A line is a conversation in a store, to which rounds are appended.
type line struct {
	db      store.Store
	version int64
	chain   decant.Hash
}

func (l *line) commit(ctx context.Context) error {
	said := text(int(l.version))
	raw := `{"type":"text","text":"` + said + `"}`
	l.chain = decant.HashText(l.chain.String() + said)
	b := &store.Batch{Key: store.Key{ID: "conversation"}, Version: l.version, Blobs: [][]byte{[]byte(raw), []byte(said)}, Entries: []store.Entry{{
		Chain: l.chain, Raw: decant.HashText(raw), Text: decant.HashText(said),
		Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: int(l.version) + 1}, Tokens: 1000,
	}}}
	if l.version == 0 {
		b.Create = &store.Creation{Session: "session"}
	}
	v, err := l.db.Commit(ctx, b)
	l.version = v
	return err
}
