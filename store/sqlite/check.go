package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Check implements store.Checker: SQLite's own check of the file, then what the tables say of each
// other, then every chain and every blob, and what else is encrypted.
func (db *database) Check(ctx context.Context) ([]string, error) {
	c := &checker{db: db}
	err := db.snapshot(ctx, func(r *reader) error {
		c.q = r
		for _, step := range []func() error{c.integrity, c.references, c.chains, c.contents, c.sealed} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	return c.problems, wrap("check database", err)
}

type checker struct {
	db       *database
	q        querier
	problems []string
	links    int // entries of conversations that could be loaded
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) integrity() error {
	if err := c.refresh(); err != nil {
		return err
	}
	return c.q.rows("PRAGMA integrity_check", nil, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		if s != "ok" {
			c.report("%s", s)
		}
		return err
	})
}

// refresh makes the connection read the layout of the text index again. FTS5 notices changes by others when a search
// begins, but not when it is checked: an outdated layout would look like corruption.
func (c *checker) refresh() error {
	return c.q.rows("SELECT rowid FROM search_text WHERE search_text MATCH 'a' LIMIT 1", nil, func(*sql.Rows) error { return nil })
}

// references are what must not dangle: a message and a query for the rows that break the rule.
var references = []struct{ what, query string }{
	{"blob in a pack that is not there", `SELECT b.tenant, '', hex(b.hash) FROM blobs b
		WHERE NOT EXISTS (SELECT 1 FROM packs p WHERE p.id = b.pack AND p.tenant = b.tenant)`},
	{"pack of a conversation that is not there", `SELECT p.tenant, p.conversation, p.id FROM packs p
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.tenant = p.tenant AND c.id = p.conversation)`},
	{"blobs held by a conversation that is not there", `SELECT h.tenant, h.conversation, h.id FROM holds h
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.tenant = h.tenant AND c.id = h.conversation)`},
	{"entries of a conversation that is not there", `SELECT e.tenant, e.conversation, e.version FROM segments e
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.tenant = e.tenant AND c.id = e.conversation)`},
	{"checkpoint decision without a checkpoint", `SELECT d.tenant, d.conversation, d.id FROM decisions d WHERE d.kind = 'checkpoint'
		AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant = d.tenant AND c.conversation = d.conversation AND c.decision = d.id)`},
	{"confirmation of a memory that is not there", `SELECT c.tenant, c.conversation, c.memory FROM confirmations c
		WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = c.tenant AND m.id = c.memory)`},
	{"journal that lacks steps", `SELECT j.tenant, j.conversation, j.id FROM journals j
		WHERE j.length <> (SELECT count(*) FROM journal_steps s WHERE s.tenant = j.tenant AND s.journal = j.id)`},
	{"step of a journal that is not there", `SELECT s.tenant, '', s.journal FROM journal_steps s
		WHERE NOT EXISTS (SELECT 1 FROM journals j WHERE j.tenant = s.tenant AND j.id = s.journal)`},
	{"fork whose parent is not there", `SELECT f.tenant, f.id, f.parent FROM conversations f WHERE f.parent <> ''
		AND NOT EXISTS (SELECT 1 FROM conversations p WHERE p.tenant = f.tenant AND p.id = f.parent)`},
	{"sum of a day that is not what was booked", `SELECT tenant, '', day FROM (SELECT tenant, day, tokens, cost FROM spent WHERE tokens <> 0 OR cost <> 0
		EXCEPT SELECT tenant, day, sum(input + cache_read + cache_write + output), sum(cost) FROM spends GROUP BY tenant, day)`},
	{"sum of a conversation that is not what was booked", `SELECT tenant, id, spent_cost FROM (SELECT tenant, id, spent_tokens, spent_cost FROM conversations
		WHERE spent_tokens <> 0 OR spent_cost <> 0 EXCEPT SELECT tenant, conversation, sum(input + cache_read + cache_write + output), sum(cost)
		FROM spends GROUP BY tenant, conversation)`},
}

func (c *checker) references() error {
	for _, r := range references {
		err := c.q.rows(r.query, nil, func(rows *sql.Rows) error {
			var tenant, conversation, what string
			err := rows.Scan(&tenant, &conversation, &what)
			c.report("%s: tenant %q, conversation %q, %s", r.what, tenant, conversation, what)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chains loads every conversation.
func (c *checker) chains() error {
	var keys []store.Key
	err := c.q.rows("SELECT tenant, id FROM conversations", nil, func(rows *sql.Rows) error {
		var k store.Key
		err := rows.Scan(&k.Tenant, &k.ID)
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return err
	}
	for _, k := range keys {
		s, err := conversation(c.q, k)
		if errors.Is(err, store.ErrCorrupt) {
			c.report("of tenant %q: %v", k.Tenant, err)
			continue
		}
		if err != nil {
			return err
		}
		length := s.Length
		if s, err = load(c.q, k, store.Newest); err != nil {
			c.report("conversation %q of tenant %q: %v", k.ID, k.Tenant, err)
			continue
		}
		if len(s.Chain) != length {
			c.report("conversation %q of tenant %q: %d entries, its row says %d", k.ID, k.Tenant, len(s.Chain), length)
		}
		if err := c.linked(s); err != nil {
			return err
		}
		if err := c.held(k); err != nil {
			return err
		}
	}
	var links int
	if err := c.q.row("SELECT count(*) FROM chains", nil, &links); err != nil {
		return err
	}
	if links != c.links {
		c.report("%d entries can be found by their chain, the conversations have %d", links, c.links)
	}
	return nil
}

// linked examines whether Match knows the conversation's own entries, and no others.
func (c *checker) linked(s *store.State) error {
	var base, links int
	if err := c.q.row("SELECT base FROM conversations WHERE tenant = ? AND id = ?", []any{s.Tenant, s.ID}, &base); err != nil {
		return err
	}
	how := c.q.vault()
	session := how.session(s.Tenant, s.Session)
	own := s.Chain[min(base, len(s.Chain)):]
	for i := range own {
		e := &own[i]
		var one int
		err := c.q.row("SELECT 1 FROM chains WHERE tenant = ? AND session = ? AND chain = ? AND conversation = ? AND position = ?",
			[]any{s.Tenant, how.short(session), how.hash(s.Tenant, e.Chain), s.ID, e.Position}, &one)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		links += one
	}
	if links != len(own) {
		c.report("conversation %q of tenant %q: %d of its %d entries can be found by their chain", s.ID, s.Tenant, links, len(own))
	}
	c.links += links
	return nil
}

// needed are the hashes that a conversation needs the blobs of, beside those of its entries, with what
// they are.
const needed = `SELECT 'original of decision ' || id, target FROM decisions WHERE tenant = ?1 AND conversation = ?2
	UNION ALL SELECT 'frame of request ' || id, frame FROM requests WHERE tenant = ?1 AND conversation = ?2
	UNION ALL SELECT 'answer to request ' || id, answer FROM requests WHERE tenant = ?1 AND conversation = ?2
	UNION ALL SELECT 'plan of request ' || id, plan FROM requests WHERE tenant = ?1 AND conversation = ?2`

// held examines whether a conversation holds what it needs, and whether what it holds is there.
func (c *checker) held(k store.Key) error {
	held, err := holdings(c.q, k)
	if err == nil {
		err = c.present(k, held)
	}
	if err == nil {
		err = c.packed(k, held)
	}
	if err != nil {
		return err
	}
	need := func(h decant.Hash, what string) {
		if !h.IsZero() && !held[h] {
			c.report("conversation %q of tenant %q does not hold blob %s, the %s", k.ID, k.Tenant, h, what)
		}
	}
	if err := (lineage{c.q, k.Tenant}).Segments(k.ID, math.MaxInt64, func(_ int64, position int, data []byte) error {
		entries, err := form.AppendSegment(nil, data)
		for i := range entries {
			need(entries[i].Raw, fmt.Sprint("block of entry ", position+i))
			need(entries[i].Text, fmt.Sprint("text of entry ", position+i))
		}
		return err
	}); err != nil {
		return err
	}
	return c.q.rows(needed, []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		var what string
		var h []byte
		err := rows.Scan(&what, &h)
		need(c.q.vault().unhash(k.Tenant, h), what)
		return err
	})
}

// present examines whether the blobs are there that a conversation holds besides those of its own packs.
func (c *checker) present(k store.Key, held map[decant.Hash]bool) error {
	for h := range held {
		var one int
		err := c.q.row("SELECT 1 FROM blobs WHERE tenant = ? AND hash = ?", []any{k.Tenant, c.q.vault().hash(k.Tenant, h)}, &one)
		if errors.Is(err, sql.ErrNoRows) {
			c.report("conversation %q of tenant %q holds blob %s, which is not there", k.ID, k.Tenant, h)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// packed adds the blobs of a conversation's own packs to those that it holds.
func (c *checker) packed(k store.Key, held map[decant.Hash]bool) error {
	return c.q.rows("SELECT id, names FROM packs WHERE tenant = ? AND conversation = ?", []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		var p pack
		err := rows.Scan(&p.id, &p.names)
		if err == nil {
			if p.names, err = c.q.vault().open(p.names, packPlace(k, "packs.names", p.id)); err != nil {
				c.report("pack %d: %v", p.id, err)
				return nil
			}
		}
		for names := p.names; len(names) >= nameSize; names = names[nameSize:] {
			held[hash(names)] = true
		}
		return err
	})
}

// contents reads every pack and compares the blobs in it with their names.
func (c *checker) contents() error {
	var packs []int64
	if err := c.q.rows("SELECT id FROM packs", nil, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		packs = append(packs, id)
		return err
	}); err != nil {
		return err
	}
	named := 0
	for _, id := range packs {
		n, err := c.pack(id)
		if err != nil {
			return err
		}
		named += n
	}
	var blobs int
	if err := c.q.row("SELECT count(*) FROM blobs", nil, &blobs); err != nil {
		return err
	}
	if blobs != named {
		c.report("%d blobs, the packs hold %d", blobs, named)
	}
	return nil
}

// pack examines one pack and returns how many blobs it has.
func (c *checker) pack(id int64) (n int, err error) {
	u := &unpacker{q: c.q}
	if err := u.load(id); err != nil {
		c.report("%v", err)
		return 0, nil
	}
	var tenant string
	if err := c.q.row("SELECT tenant FROM packs WHERE id = ?", []any{id}, &tenant); err != nil {
		return 0, err
	}
	u.last.each(func(h decant.Hash, blob []byte) bool {
		n++
		var at int64
		err = c.q.row("SELECT pack FROM blobs WHERE tenant = ? AND hash = ?", []any{tenant, c.q.vault().hash(tenant, h)}, &at)
		if errors.Is(err, sql.ErrNoRows) || at != id {
			c.report("blob %s of tenant %q is in pack %d unknown to the rest", h, tenant, id)
			err = nil
		}
		if form.Hash(blob) != h {
			c.report("blob %s of tenant %q holds something else", h, tenant)
		}
		return err == nil
	})
	return n, err
}

// sealed opens what is encrypted of the tables that the steps before do not read whole.
func (c *checker) sealed() error {
	if c.q.vault().box == nil {
		return nil
	}
	for _, name := range []string{"requests", "findings", "memories", "confirmations", "journals", "journal_steps", "tenant_keys", "acts"} {
		t := tables[name]
		if err := c.q.rows("SELECT * FROM "+name, nil, func(rows *sql.Rows) error {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			row, err := rowOf(rows, columns)
			for _, column := range strings.Fields(t.sealed) {
				at := t.at(name+"."+column, row)
				if _, err := c.q.vault().open(blobOf(row[column]), at); err != nil {
					c.report("tenant %q, %s %s: %v", at.Tenant, at.ID, at.Part, err)
				}
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Backup implements store.Backuper. The copy is compact, has mode 0600, and is on the disk when
// Backup returns. A file that exists is left alone.
func (db *database) Backup(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // SQLite takes an empty file
	if err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	err = db.read(ctx, func(*reader) error { return db.vacuumInto(ctx, path) })
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return wrap("back up database to "+path, err)
}

func (db *database) vacuumInto(ctx context.Context, path string) error {
	c, err := sql.Open("sqlite", db.dsn.with(db.dsn.busy))
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "VACUUM INTO ?", path)
	return errors.Join(err, c.Close())
}
