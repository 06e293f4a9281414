package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/decantdev/decant/store"
)

// kept are the columns in which a conversation's own words stand as they are stored, by table; the conversation's
// column comes first. Packs are compressed: of them it is the bytes as they were on the disk.
var kept = []struct{ table, key, columns string }{
	{"conversations", "id", "session, agent, project"},
	{"segments", "conversation", "data"},
	{"decisions", "conversation", "text, record"},
	{"checkpoints", "conversation", "summary_content, key_facts"},
	{"packs", "conversation", "data"},
}

// sample takes pieces of everything in the rows of a conversation. Its contents are sampled one by one as
// they go, see divider.
func (c *collector) sample(t *tx, k store.Key) error {
	if c.pieces == nil {
		return nil
	}
	for _, at := range kept {
		query := "SELECT " + at.columns + " FROM " + at.table + " WHERE tenant = ? AND " + at.key + " = ?"
		if err := t.rows(query, []any{k.Tenant, k.ID}, func(rows *sql.Rows) error { return columns(rows, c.pieces.take) }); err != nil {
			return fmt.Errorf("sample %s: %w", at.table, err)
		}
	}
	return nil
}

// columns calls do with every column of a row, as text or bytes.
func columns(rows *sql.Rows, do func([]byte)) error {
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	raw, dest := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range raw {
		dest[i] = &raw[i]
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	for _, column := range raw {
		do(column)
	}
	return nil
}

// prove looks for pieces of what was removed in the raw bytes of the database's files. What it finds there and also in
// what stays, which may hold the same words, says nothing and does not count.
func (db *database) prove(ctx context.Context, p *pieces) (*store.Proof, error) {
	f := newFinder(p.list)
	out := &store.Proof{Pieces: len(f.pieces)}
	var where []string
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		before := len(f.left())
		n, err := readFile(db.path+end, f)
		if err != nil {
			return nil, fmt.Errorf("look through %s: %w", db.path+end, err)
		}
		if out.Bytes += n; len(f.left()) > before {
			where = append(where, db.path+end)
		}
	}
	found := f.left()
	if len(found) == 0 {
		return out, nil
	}
	own := 0
	if err := db.snapshot(ctx, func(r *reader) (err error) {
		own, err = alsoIn(r, &unpacker{q: r}, found)
		return err
	}); err != nil {
		return nil, err
	}
	out.Pieces -= own
	if out.Left = len(found) - own; out.Left > 0 {
		out.Where = where
	}
	return out, nil
}

// readFile looks through a file, nothing when it is not there.
func readFile(name string, f *finder) (int64, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return f.read(file)
}

// conversational are the tables that hold what conversations consist of. A piece that is found in another one, the
// audit log, say, has no business there.
var conversational = []string{
	"conversations", "segments", "decisions", "checkpoints", "requests", "claims", "packs", "fixed", "blobs", "holds", "search_docs", "search_queue",
	"memories", "confirmations", "journals", "journal_steps",
}

// alsoIn returns how many of the pieces stand in what the database holds of conversations.
func alsoIn(r *reader, u *unpacker, list []string) (int, error) {
	f := newFinder(list)
	for _, table := range conversational {
		if err := r.rows("SELECT * FROM "+table, nil, func(rows *sql.Rows) error { return columns(rows, f.look) }); err != nil {
			return 0, fmt.Errorf("read table %s: %w", table, err)
		}
	}
	err := eachPack(r, u, func(data []byte) {
		f.look(data)
		f.look(lowered(data)) // as the index has its words
	})
	return len(f.left()), err
}

// eachPack calls do with the contents of every pack.
func eachPack(r *reader, u *unpacker, do func([]byte)) error {
	var ids []int64
	if err := r.rows("SELECT id FROM packs", nil, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}); err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		if err := u.load(id); err != nil {
			return err
		}
		do(u.last.data)
	}
	return nil
}
