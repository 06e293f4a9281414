package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

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

// Commits are measured in batches, and the bare table in turn with the store, so that whatever else the machine does slows
// down both. The table takes more of them, so that both are measured as long.
const batches, batch, ofFloor = 40, 10, 3

// commits measures commits to a store, and what a bare table takes for the same bytes. The size is that of an empty database.
func commits(file, bareFile string) (s spent, err error) {
	ctx := context.Background()
	if err := open(file); err != nil {
		return s, err
	}
	s.Database = allocated(file).Database
	db, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return s, err
	}
	bare, err := openBare(bareFile)
	if err != nil {
		return s, errors.Join(err, db.Close())
	}
	l := &line{db: db}
	var took, floor time.Duration
	for i := range batches + 1 {
		before, began := allocated(file), processor()
		for range batch {
			err = errors.Join(err, l.commit(ctx))
		}
		between, after := processor(), allocated(file)
		for n := range ofFloor * batch {
			err = errors.Join(err, insert(bare, i*ofFloor*batch+n))
		}
		if i > 0 { // before that everything is prepared
			took, floor = took+between-began, floor+processor()-between
			s.Mallocs, s.Bytes = s.Mallocs+after.Mallocs-before.Mallocs, s.Bytes+after.Bytes-before.Bytes
		}
	}
	s.Mallocs, s.Bytes = s.Mallocs/(batches*batch), s.Bytes/(batches*batch)
	s.Times = float64(took) / float64(floor) * ofFloor
	return s, errors.Join(err, db.Close(), bare.Close())
}

// processor returns the processor time that this process has taken.
func processor() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err) // there is no system without it
	}
	return time.Duration(t.Nano())
}

// A line is a conversation in a store, to which rounds are appended.
type line struct {
	db      *sqlite.DB
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

// pragmas are those of the store.
const pragmas = "?_txlock=immediate&_pragma=auto_vacuum(incremental)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)" +
	"&_pragma=cache_size(-16000)&_pragma=journal_size_limit(67108864)&_pragma=wal_autocheckpoint(4000)"

// openBare opens a database that has one table for what is said, and nothing else.
func openBare(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+file+pragmas)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rounds (id INTEGER PRIMARY KEY, raw TEXT, said TEXT)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func insert(db *sql.DB, n int) error {
	said := text(n)
	_, err := db.Exec("INSERT INTO rounds (raw, said) VALUES (?, ?)", `{"type":"text","text":"`+said+`"}`, said)
	return err
}
