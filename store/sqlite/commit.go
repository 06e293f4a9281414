package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// manyEntries are so many that their commit is written alone.
const manyEntries = 50

// Commit implements store.Committer.
func (db *database) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	c, err := db.prepare(b)
	if err != nil {
		return 0, wrap("prepare commit", err)
	}
	if err := db.change(ctx, len(b.Entries) > manyEntries, c.write); err != nil {
		return 0, wrap("commit "+b.ID, err)
	}
	return c.head.version, nil
}

// A commit is a batch with everything done that does not need the database.
type commit struct {
	*store.Batch
	now time.Time
	content
	records []form.Record // of the decisions
	head    head          // of the conversation: as it was, then as it will be
}

// head is the part of a conversation's row that a commit reads and writes.
type head struct {
	version   int64
	length    int
	messages  int
	tokens    int
	decisions int
	base      int
	session   string // as it is stored
	baseChain decant.Hash
	lowered   bool        // base has changed
	fixed     decant.Hash // version of the fixed part, as it was
	anchored  int64       // time of the anchor, as it was
}

func (db *database) prepare(b *store.Batch) (*commit, error) {
	if err := form.Validate(b); err != nil {
		return nil, err
	}
	c := &commit{Batch: b, now: b.Time}
	if c.now.IsZero() {
		c.now = db.now()
	}
	for i := range b.Decisions {
		r, err := form.NewRecord(&b.Decisions[i])
		if err != nil {
			return nil, err
		}
		c.records = append(c.records, r)
	}
	c.content = newContent(len(b.Blobs) + len(b.Events.Blobs) + 2)
	c.content.add(b.Hashes, b.Blobs...)
	c.content.add(nil, b.Events.Blobs...)
	if f := b.Fixed; f != nil {
		c.content.add(nil, f.System, f.Tools)
	}
	return c, nil
}

// write applies the commit. Whatever it has done when it fails is undone by the writer.
func (c *commit) write(t *tx) error {
	steps := []struct {
		name string
		do   func(*tx) error
	}{
		{"begin version", c.begin},
		{"store blobs", func(t *tx) error { return c.content.store(t, c.Key) }},
		{"replace entries", c.replace},
		{"append entries", c.append},
		{"append decisions", c.decide},
		{"store fixed part", c.fix},
		{"record events", c.record},
		{"finish version", c.finish},
		{"hold blobs", c.hold},
	}
	for _, s := range steps {
		if err := s.do(t); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// begin compares the version, or creates the conversation.
func (c *commit) begin(t *tx) error {
	h := &c.head
	var row [10]driver.Value
	err := t.first(`SELECT version, length, messages, tokens, decisions, base, session, base_chain, fixed, anchor_time
		FROM conversations WHERE tenant = ? AND id = ?`, []any{c.Tenant, c.ID}, row[:])
	if err == nil {
		h.scan(t.sealing, c.Tenant, row[:])
	}
	c.content.fixed = h.fixed
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case !exists && c.Create == nil:
		return fmt.Errorf("conversation %s: %w", c.ID, store.ErrNotFound)
	case exists && h.version != c.Version:
		return fmt.Errorf("committed for version %d, it has %d: %w", c.Version, h.version, store.ErrConflict)
	case !exists:
		if err := c.create(t); err != nil {
			return err
		}
	}
	h.version++
	return nil
}

func (h *head) scan(s sealing, tenant string, row []driver.Value) {
	for i, n := range []*int{1: &h.length, &h.messages, &h.tokens, &h.decisions, &h.base} {
		if n != nil {
			*n = int(row[i].(int64))
		}
	}
	h.version, h.session, h.anchored = row[0].(int64), row[6].(string), row[9].(int64)
	base, _ := row[7].([]byte) // nil when empty
	fixed, _ := row[8].([]byte)
	h.baseChain, h.fixed = s.unhash(tenant, base), s.unhash(tenant, fixed)
}

func (c *commit) create(t *tx) error {
	h := &c.head
	h.session = t.session(c.Tenant, c.Create.Session)
	o := c.Create.Origin
	if o == nil {
		o = &store.Origin{}
	} else if err := c.fork(t, o); err != nil {
		return err
	}
	if err := c.unclaimed(t); err != nil {
		return err
	}
	now := form.Micros(c.now)
	agent, project := t.text(c.Create.Agent, of(c.Key, "conversations.agent")), t.text(c.Create.Project, of(c.Key, "conversations.project"))
	return t.exec(`INSERT INTO conversations (tenant, id, session, agent, project, parent, parent_version, parent_length, parent_in_force, base, base_chain,
		version, length, messages, tokens, decisions, model, fixed, hold, suppressed, pinned, anchor, anchor_time, created, updated)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, 0, '', x'', 0, 0, 0, ?, 0, ?, ?)`,
		c.Tenant, c.ID, h.session, agent, project, o.Parent, o.Version, o.Position, o.InForce, h.base, t.some(c.Tenant, h.baseChain),
		h.length, h.messages, h.tokens, t.text("", of(c.Key, "conversations.anchor")), now, now)
}

// fork takes over the common part from the parent.
func (c *commit) fork(t *tx, o *store.Origin) error {
	chain, err := form.Chain(lineage{t, c.Tenant}, o.Parent, o.Version)
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	if o.Position < 1 || o.Position > len(chain) || o.InForce < 0 || o.InForce > o.Version {
		return fmt.Errorf("fork at position %d of a chain of %d, with the decisions of version %d of %d: %w",
			o.Position, len(chain), o.InForce, o.Version, store.ErrInvalid)
	}
	h := &c.head
	last := chain[o.Position-1]
	h.base, h.baseChain = o.Position, last.Chain
	h.count(chain[:o.Position])
	return nil
}

// unclaimed refuses to create a line that another request has created meanwhile.
func (c *commit) unclaimed(t *tx) error {
	for i := range c.Entries {
		chain := c.Entries[i].Chain
		if chain == c.head.baseChain {
			continue // thinking repeats the hash before it
		}
		var other string
		err := t.row("SELECT conversation FROM chains WHERE tenant = ? AND session = ? AND chain = ? LIMIT 1",
			[]any{c.Tenant, t.short(c.head.session), t.hash(c.Tenant, chain)}, &other)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("conversation %s has the same beginning: %w", other, store.ErrConflict)
	}
	return nil
}

// count sets the numbers that depend on the chain.
func (h *head) count(chain []store.Entry) {
	h.length, h.messages, h.tokens = len(chain), 0, 0
	for i := range chain {
		h.messages, h.tokens = chain[i].Message, h.tokens+chain[i].Tokens
	}
}

// replace takes the entries from c.Replace on out of the chain.
func (c *commit) replace(t *tx) error {
	h := &c.head
	if c.Replace == 0 {
		return nil
	}
	if c.Replace > h.length+1 {
		return fmt.Errorf("replace from position %d of a chain of %d: %w", c.Replace, h.length, store.ErrInvalid)
	}
	chain, err := form.Chain(lineage{t, c.Tenant}, c.ID, c.Version)
	if err != nil {
		return err
	}
	if len(chain) != h.length {
		return fmt.Errorf("a chain of %d entries, not %d: %w", len(chain), h.length, store.ErrCorrupt)
	}
	kept := c.Replace - 1
	if err := unlink(t, c.Key, h.session, chain[max(kept, h.base):]); err != nil {
		return err
	}
	if kept < h.base { // the fork shares less with its parent from now on
		h.base, h.baseChain, h.lowered = kept, decant.Hash{}, true
		if kept > 0 {
			h.baseChain = chain[kept-1].Chain
		}
	}
	h.count(chain[:kept])
	return nil
}

// unlink makes entries of a conversation's own unknown to Match. session is as it is stored.
func unlink(t *tx, k store.Key, session string, entries []store.Entry) error {
	for i := range entries {
		e := &entries[i]
		if err := t.exec("DELETE FROM chains WHERE tenant = ? AND session = ? AND chain = ? AND conversation = ? AND position = ?",
			k.Tenant, t.short(session), t.hash(k.Tenant, e.Chain), k.ID, e.Position); err != nil {
			return err
		}
	}
	return nil
}

func (c *commit) append(t *tx) error {
	h := &c.head
	if len(c.Entries) == 0 && c.Replace == 0 {
		return nil
	}
	first, data := h.length+1, form.NewSegment(len(c.Entries))
	for i := range c.Entries {
		e := &c.Entries[i]
		for _, blob := range []decant.Hash{e.Raw, e.Text} {
			if err := c.refer(t, blob); err != nil {
				return fmt.Errorf("entry %d: %w", i+1, err)
			}
		}
		h.length++
		h.messages, h.tokens = e.Message, h.tokens+e.Tokens
		data = form.AppendEntry(data, e)
	}
	if err := c.link(t, first); err != nil {
		return err
	}
	if err := t.exec("INSERT INTO segments (tenant, conversation, version, position, data) VALUES (?, ?, ?, ?, ?)",
		c.Tenant, c.ID, h.version, first, t.seal(data, segmentPlace(c.Key, h.version, first))); err != nil {
		return err
	}
	return c.enqueue(t)
}

// link makes the entries known to Match.
func (c *commit) link(t *tx, first int) error {
	session := t.short(c.head.session)
	return t.inOrder(c.Tenant, len(c.Entries), func(i int) (*decant.Hash, int64) { return &c.Entries[i].Chain, int64(first + i) }, func(r *hashRows) error {
		return t.exec("INSERT INTO chains (tenant, session, chain, conversation, position) SELECT ?, ?, substr(?, 1 + 16 * key, 16), ?, value FROM json_each(?)",
			c.Tenant, session, r.hashes, c.ID, string(r.numbers))
	})
}

// enqueue notes the texts that are new to the store for the index.
func (c *commit) enqueue(t *tx) error {
	var texts []byte
	for i := range c.Entries {
		if h := c.Entries[i].Text; c.fresh(h) {
			texts = append(texts, t.hash(c.Tenant, h)...)
		}
	}
	if texts == nil {
		return nil
	}
	return t.exec("INSERT INTO search_queue (tenant, hashes) VALUES (?, ?)", c.Tenant, texts)
}

func (c *commit) fix(t *tx) error {
	f := c.Fixed
	if f == nil || f.Version == c.content.fixed {
		return nil
	}
	system, tools := form.Hash(f.System), form.Hash(f.Tools)
	for _, h := range []decant.Hash{system, tools} {
		if err := c.refer(t, h); err != nil {
			return err
		}
	}
	return t.exec("INSERT INTO fixed (tenant, version, system, tools, tokens) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		c.Tenant, t.hash(c.Tenant, f.Version), t.some(c.Tenant, system), t.some(c.Tenant, tools), f.Tokens)
}

func (c *commit) record(t *tx) error {
	e := events{Events: &c.Batch.Events, Key: c.Key, version: c.head.version, content: &c.content}
	return e.write(t)
}

// finish writes the conversation's row.
func (c *commit) finish(t *tx) error {
	h := &c.head
	var row assignments
	row.set("version = ?, length = ?, messages = ?, tokens = ?, decisions = ?, updated = ?",
		h.version, h.length, h.messages, h.tokens, h.decisions, form.Micros(c.now))
	if h.lowered { // otherwise not named: SQLite would write its index again
		row.set("base = ?, base_chain = ?", h.base, t.some(c.Tenant, h.baseChain))
	}
	if n := c.Head; n != nil {
		if err := c.holdFixed(t, n.Fixed); err != nil {
			return err
		}
		row.set("model = ?, fixed = ?, hold = ?, suppressed = ?, pinned = ?", n.Model, t.some(c.Tenant, n.Fixed), n.Hold, n.Suppressed, n.Pinned)
	}
	if err := row.anchor(t, c.Key, c.Batch.Events.Anchor, h.anchored); err != nil {
		return err
	}
	return row.update(t, c.Key)
}
