package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/decantdev/decant/store"
)

// form5 makes a segment of the entries of each commit, which were a row each, and keeps their chain
// hashes in a table of its own.
func form5() *goose.Migration {
	return goose.NewGoMigration(5, &goose.GoFunc{RunTx: segmentEntries}, nil)
}

// form5Tables are the tables that take the place of entries and bases, and what is simply taken over.
const form5Tables = `
CREATE TABLE segments (
	tenant       TEXT    NOT NULL,
	conversation TEXT    NOT NULL,
	version      INTEGER NOT NULL, -- of the commit
	position     INTEGER NOT NULL, -- of its first entry; what stood there and after is replaced
	data         BLOB    NOT NULL, -- the entries, see segment.go
	PRIMARY KEY (tenant, conversation, version)
) WITHOUT ROWID;
CREATE TABLE chains ( -- where the hashes of the chains are that conversations have now, shared parts not counted
	tenant       TEXT    NOT NULL,
	session      TEXT    NOT NULL,
	chain        BLOB    NOT NULL,
	conversation TEXT    NOT NULL,
	position     INTEGER NOT NULL,
	PRIMARY KEY (tenant, session, chain, conversation, position)
) WITHOUT ROWID;
INSERT INTO chains (tenant, session, chain, conversation, position)
	SELECT tenant, session, chain, conversation, position FROM entries WHERE removed = 0;`

// form5Changes are the commits that changed chains, with the first position that they changed: of
// what they added, of what they removed, or of what they ceased to share with the parent.
const form5Changes = `SELECT tenant, conversation, version, min(position) FROM (
	SELECT tenant, conversation, added AS version, position FROM entries
	UNION ALL SELECT tenant, conversation, removed, position FROM entries WHERE removed > 0
	UNION ALL SELECT tenant, conversation, version, position + 1 FROM bases WHERE version > 1
) GROUP BY tenant, conversation, version`

const form5Entries = `SELECT chain, raw, text, role, kind, author, call_id, name, message, block, tokens FROM entries
	WHERE tenant = ? AND conversation = ? AND added = ? ORDER BY position`

func segmentEntries(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, form5Tables); err != nil {
		return fmt.Errorf("make segments: %w", err)
	}
	type change struct {
		store.Key
		version  int64
		position int
	}
	var changes []change
	if err := scan(tx.QueryContext(ctx, form5Changes))(func(rows *sql.Rows) error {
		var c change
		err := rows.Scan(&c.Tenant, &c.ID, &c.version, &c.position)
		changes = append(changes, c)
		return err
	}); err != nil {
		return fmt.Errorf("find commits: %w", err)
	}
	for _, c := range changes {
		data, err := segmentOf(ctx, tx, c.Key, c.version)
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, "INSERT INTO segments (tenant, conversation, version, position, data) VALUES (?, ?, ?, ?, ?)",
			c.Tenant, c.ID, c.version, c.position, data); err != nil {
			return fmt.Errorf("write segment %d of %s: %w", c.version, c.ID, err)
		}
	}
	_, err := tx.ExecContext(ctx, "DROP TABLE entries; DROP TABLE bases")
	return err
}

// segmentOf returns the data of the segment of one commit.
func segmentOf(ctx context.Context, tx *sql.Tx, k store.Key, version int64) ([]byte, error) {
	data := newSegment(8)
	err := scan(tx.QueryContext(ctx, form5Entries, k.Tenant, k.ID, version))(func(rows *sql.Rows) error {
		var e store.Entry
		var chain, raw, text sql.RawBytes
		err := rows.Scan(&chain, &raw, &text, &e.Role, &e.Kind, &e.Author, &e.CallID, &e.Name, &e.Message, &e.Block, &e.Tokens)
		e.Chain, e.Raw, e.Text = hash(chain), hash(raw), hash(text)
		data = appendEntry(data, &e)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the entries of version %d of %s: %w", version, k.ID, err)
	}
	return data, nil
}
