package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// A copier copies all rows of a database to one that keeps its values in another way.
type copier struct {
	src      *conn
	dst      *sql.Tx
	from, to sealing
	sessions map[[2]string]string // names by tenant and short form, where they are sealed
}

func (x *copier) all(ctx context.Context) error {
	if err := x.names(ctx); err != nil {
		return err
	}
	resume, err := x.suspendTriggers(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		switch {
		case name == "encryption":
		case x.to.box == nil && name == "search_docs": // its words were never indexed
			err = x.requeue(ctx)
		default:
			err = x.table(ctx, name)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := x.numbers(ctx); err != nil {
		return fmt.Errorf("numbers that were given: %w", err)
	}
	return resume()
}

// names reads the names of sessions that are sealed.
func (x *copier) names(ctx context.Context) error {
	x.sessions = map[[2]string]string{}
	if x.from.box == nil {
		return nil
	}
	return scan(x.src.QueryContext(ctx, "SELECT DISTINCT tenant, session FROM conversations"))(func(rows *sql.Rows) error {
		var tenant, stored string
		if err := rows.Scan(&tenant, &stored); err != nil {
			return err
		}
		name, err := x.from.openSession(tenant, stored)
		x.sessions[[2]string{tenant, x.from.short(stored)}] = name
		return err
	})
}

// suspendTriggers removes all triggers, which keep sums that are copied as well, and returns what makes them again.
func (x *copier) suspendTriggers(ctx context.Context) (resume func() error, err error) {
	texts := map[string]string{}
	if err := scan(x.dst.QueryContext(ctx, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))(func(rows *sql.Rows) error {
		var name, text string
		err := rows.Scan(&name, &text)
		texts[name] = text
		return err
	}); err != nil {
		return nil, err
	}
	for name := range texts {
		if _, err := x.dst.ExecContext(ctx, "DROP TRIGGER "+name); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, text := range texts {
			if _, err := x.dst.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// table copies the rows of one table.
func (x *copier) table(ctx context.Context, name string) error {
	return x.rows(ctx, "SELECT * FROM "+name, func(columns []string, row map[string]any) (err error) {
		t, values := tables[name], make([]any, len(columns))
		for i, c := range columns {
			if values[i], err = x.value(&t, name, c, row); err != nil {
				return fmt.Errorf("column %s: %w", c, err)
			}
		}
		_, err = x.dst.ExecContext(ctx, "INSERT INTO "+name+" ("+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")", values...)
		return err
	})
}

// rows calls do with all rows of a query.
func (x *copier) rows(ctx context.Context, query string, do func(columns []string, row map[string]any) error) error {
	rows, err := x.src.QueryContext(ctx, query)
	var columns []string
	if err == nil {
		columns, err = rows.Columns()
	}
	return scan(rows, err)(func(rows *sql.Rows) error {
		row, err := rowOf(rows, columns)
		if err != nil {
			return err
		}
		return do(columns, row)
	})
}

// rowOf returns the values of a row by the names of their columns.
func rowOf(rows *sql.Rows, columns []string) (map[string]any, error) {
	values, dest, row := make([]any, len(columns)), make([]any, len(columns)), map[string]any{}
	for i := range values {
		dest[i] = &values[i]
	}
	err := rows.Scan(dest...)
	for i, c := range columns {
		row[c] = values[i]
	}
	return row, err
}

// value returns a value of a row as the new database keeps it.
func (x *copier) value(t *table, name, column string, row map[string]any) (any, error) {
	v := row[column]
	tenant, _ := row["tenant"].(string)
	switch t.how(column) {
	case inClear:
		return v, nil
	case sealed:
		return x.sealed(t, name+"."+column, row, v)
	case named:
		s, err := x.from.openSession(tenant, text(v))
		return x.to.session(tenant, s), err
	case short:
		s := text(v)
		if x.from.box != nil {
			s = x.sessions[[2]string{tenant, s}]
		}
		return x.to.short(x.to.session(tenant, s)), nil
	case hashed:
		return x.to.some(tenant, x.from.unhash(tenant, blobOf(v))), nil
	case listed:
		return x.list(tenant, blobOf(v)), nil
	}
	return nil, fmt.Errorf("this program does not know its encryption: %w", store.ErrNewer)
}

// sealed opens a value and seals it again. What is kept as it is has the type of its column.
func (x *copier) sealed(t *table, column string, row map[string]any, v any) (any, error) {
	at := t.at(column, row)
	value, err := x.from.open(blobOf(v), at)
	if err != nil || x.to.box != nil {
		return x.to.seal(value, at), err
	}
	if texts[column] {
		return string(value), nil
	}
	return form.NonNil(value), nil
}

// texts are the sealed columns that hold text when they are not sealed.
var texts = map[string]bool{
	"conversations.agent": true, "conversations.project": true, "conversations.anchor": true, "checkpoints.key_facts": true,
	"requests.stop": true, "requests.planned": true, "findings.value": true, "tenant_keys.note": true, "acts.detail": true,
	"memories.name": true, "memories.text": true, "memories.extra": true, "confirmations.evidence": true,
}

// list returns a list of hashes as the new database keeps it.
func (x *copier) list(tenant string, stored []byte) []byte {
	out := make([]byte, 0, len(stored))
	for h := range x.from.split(tenant, stored) {
		out = append(out, x.to.hash(tenant, h)...)
	}
	return out
}

// requeue has what was only listed indexed.
func (x *copier) requeue(ctx context.Context) error {
	return x.rows(ctx, "SELECT tenant, hash FROM search_docs ORDER BY id DESC", func(_ []string, row map[string]any) error {
		tenant := text(row["tenant"])
		_, err := x.dst.ExecContext(ctx, "INSERT INTO search_queue (id, tenant, hashes) VALUES ((SELECT COALESCE(min(id), 0) - 1 FROM search_queue), ?, ?)",
			tenant, x.list(tenant, blobOf(row["hash"])))
		return err
	})
}

// numbers takes over how far numbers were given that must not come again.
func (x *copier) numbers(ctx context.Context) error {
	if _, err := x.dst.ExecContext(ctx, "DELETE FROM sqlite_sequence"); err != nil {
		return err
	}
	return x.rows(ctx, "SELECT name, seq FROM sqlite_sequence", func(_ []string, row map[string]any) error {
		_, err := x.dst.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", row["name"], row["seq"])
		return err
	})
}

// text returns a value that SQLite keeps as text or as bytes.
func text(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	s, _ := v.(string)
	return s
}

// blobOf returns a value that SQLite keeps as text or as bytes.
func blobOf(v any) []byte {
	if b, ok := v.([]byte); ok {
		return b
	}
	s, _ := v.(string)
	return []byte(s)
}
