package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Commit implements store.Committer. A commit that replaces entries or forks reads first what is there, which as of a
// version never changes.
func (db *database) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	if err := form.Validate(b); err != nil {
		return 0, wrap("prepare commit", err)
	}
	c := &commit{Batch: b, now: b.Time}
	if c.now.IsZero() {
		c.now = db.now()
	}
	if err := c.write(ctx, db); err != nil {
		return 0, wrap("commit "+b.ID, err)
	}
	return b.Version + 1, nil
}

// A commit is a batch that becomes one statement.
type commit struct {
	*store.Batch
	now   time.Time
	was   *before       // the chain before what it appends; nil: as the row says
	gone  []store.Entry // own entries that are replaced
	first decant.Hash   // chain hash by which the line is known that it creates; zero: none
	writes
}

// before is what a chain comes to before a commit appends to it.
type before struct {
	length, messages, tokens int
	base                     int
	baseChain                decant.Hash
}

// count sets the numbers that depend on the chain.
func (w *before) count(chain []store.Entry) {
	w.length, w.messages, w.tokens = len(chain), 0, 0
	for i := range chain {
		w.messages, w.tokens = chain[i].Message, w.tokens+chain[i].Tokens
	}
}

func (c *commit) write(ctx context.Context, db *database) error {
	if err := c.look(ctx, db); err != nil {
		return err
	}
	if err := c.build(); err != nil {
		return err
	}
	stmts := []stmt{c.query()}
	if c.Create != nil {
		stmts = append(c.locks(), stmts...)
	}
	rows, err := one(db.do(ctx, stmts...))
	if err == nil && len(rows) == 0 {
		err = c.refused(ctx, db)
	}
	return err
}

// look reads the chain where the commit does more than append to one.
func (c *commit) look(ctx context.Context, db *database) error {
	k, version := c.Key, c.Version
	switch {
	case c.Replace > 0:
	case c.Create != nil && c.Create.Origin != nil:
		k.ID, version = c.Create.Origin.Parent, c.Create.Origin.Version
	case c.Create != nil:
		c.was = &before{}
		c.begin()
		return nil
	default:
		return nil
	}
	l, err := db.lineage(ctx, k, version)
	if err != nil {
		return err
	}
	if c.Create != nil {
		return c.fork(l, c.Create.Origin)
	}
	if now := l.states[c.ID].Version; now != version {
		return fmt.Errorf("committed for version %d, it has %d: %w", version, now, store.ErrConflict)
	}
	return c.replace(l)
}

// begin finds the hash by which the line is known that the commit creates.
func (c *commit) begin() {
	for i := range c.Entries {
		if h := c.Entries[i].Chain; h != c.was.baseChain { // thinking repeats the hash before it
			c.first = h
			return
		}
	}
}

// fork takes over the common part from the parent.
func (c *commit) fork(l *lineage, o *store.Origin) error {
	s, err := l.state(o.Parent, o.Version)
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	if o.Position < 1 || o.Position > len(s.Chain) || o.InForce < 0 || o.InForce > o.Version {
		return fmt.Errorf("fork at position %d of a chain of %d, with the decisions of version %d of %d: %w",
			o.Position, len(s.Chain), o.InForce, o.Version, store.ErrInvalid)
	}
	c.was = &before{base: o.Position, baseChain: s.Chain[o.Position-1].Chain}
	c.was.count(s.Chain[:o.Position])
	c.begin()
	return nil
}

// replace finds what the chain is without the entries from c.Replace on.
func (c *commit) replace(l *lineage) error {
	s, err := l.state(c.ID, c.Version)
	if err != nil {
		return err
	}
	kept, shared := c.Replace-1, 0
	if kept > len(s.Chain) {
		return fmt.Errorf("replace from position %d of a chain of %d: %w", c.Replace, len(s.Chain), store.ErrInvalid)
	}
	c.was = &before{}
	if o := s.Origin; o != nil {
		shared = sharedNow(l, c.ID, c.Version, o.Position)
		c.was.base = min(kept, shared) // from now on it shares no more than that
	}
	if n := c.was.base; n > 0 {
		c.was.baseChain = s.Chain[n-1].Chain
	}
	c.was.count(s.Chain[:kept])
	c.gone = s.Chain[max(kept, shared):]
	return nil
}

// sharedNow returns how many entries a fork shares with its parent as of a version.
func sharedNow(l *lineage, id string, version int64, shared int) int {
	l.Segments(id, version, func(_ int64, position int, _ []byte) error { // never fails
		shared = min(shared, position-1)
		return nil
	})
	return shared
}

// locks are taken before the statement that creates a conversation begins, so that it sees what others have created: the
// same conversation, or the same line of a session.
func (c *commit) locks() (out []stmt) {
	keys := []int64{key("conversation", c.Tenant, c.ID)}
	if !c.first.IsZero() {
		keys = append(keys, key("line", c.Tenant, c.Create.Session, c.first.String()))
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, stmt{"SELECT pg_advisory_xact_lock($1)", []any{k}})
	}
	return out
}

// key returns the advisory lock of a thing.
func key(names ...string) int64 {
	h := fnv.New64a()
	for _, n := range names {
		fmt.Fprintf(h, "%d:%s", len(n), n)
	}
	return int64(h.Sum64())
}

// build makes the statement: first l, a row only if the commit may be made, then everything that is written from it.
func (c *commit) build() error {
	if err := c.writes.collect(c.Key, &c.Batch.Events, c.Blobs, c.Hashes); err != nil {
		return err
	}
	if f := c.Fixed; f != nil {
		c.content(f.System, f.Tools)
		c.known = f.Version
	}
	for i := range c.Entries {
		c.refer(c.Entries[i].Raw, c.Entries[i].Text)
	}
	for i := range c.Decisions {
		c.refer(c.Decisions[i].Target.Hash)
	}
	if c.Head != nil {
		c.referFixed(c.Head.Fixed)
	}
	for i := range c.Batch.Events.Requests {
		if r := &c.Batch.Events.Requests[i]; r.Version > c.Version+1 {
			return fmt.Errorf("request %s: version %d of %d: %w", r.ID, r.Version, c.Version+1, store.ErrInvalid)
		}
	}
	c.gate()
	if err := c.writes.store("l.version + 1"); err != nil {
		return err
	}
	c.link()
	if err := c.decide(); err != nil {
		return err
	}
	c.fix()
	return c.finish()
}

// gate locks the row and compares the version. The row l says what the chain comes to before.
func (c *commit) gate() {
	was := func(column string, value func(*before) any) string {
		if c.was == nil {
			return column
		}
		return c.arg(value(c.was)) + " AS " + column
	}
	columns := strings.Join([]string{
		was("length", func(w *before) any { return w.length }), was("messages", func(w *before) any { return w.messages }),
		was("tokens", func(w *before) any { return w.tokens }), was("base", func(w *before) any { return w.base }),
		was("base_chain", func(w *before) any { return w.baseChain }),
	}, ", ")
	if c.Create == nil {
		c.with("l", "SELECT "+columns+", session, decisions, fixed, anchor_time, version FROM conversations WHERE tenant = $1 AND id = $2 AND version = "+
			c.arg(c.Version)+c.there()+" FOR NO KEY UPDATE")
		return
	}
	session := c.arg(c.Create.Session)
	where := " WHERE NOT EXISTS (SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2)"
	if !c.first.IsZero() {
		where += " AND NOT EXISTS (SELECT 1 FROM chains WHERE tenant = $1 AND session = " + session + " AND chain = " + c.arg(c.first) + ")"
	}
	if o := c.Create.Origin; o != nil { // it may have been removed since it was read
		where += " AND EXISTS (SELECT 1 FROM conversations WHERE tenant = $1 AND id = " + c.arg(o.Parent) + ")"
	}
	c.with("l", "SELECT "+columns+", "+session+" AS session, 0 AS decisions, ''::bytea AS fixed, 0::bigint AS anchor_time, 0::bigint AS version"+
		where+c.there())
}

// link writes the entries, and makes them known to Match in place of those that are gone.
func (c *commit) link() {
	if len(c.Entries) == 0 && c.Replace == 0 {
		return
	}
	left := map[int64]decant.Hash{} // what is to be removed, by its position
	for i := range c.gone {
		left[int64(c.gone[i].Position)] = c.gone[i].Chain
	}
	data := form.NewSegment(len(c.Entries))
	var chains []decant.Hash
	var places []int64 // behind l.length
	for i := range c.Entries {
		e, place := &c.Entries[i], int64(i+1)
		data = form.AppendEntry(data, e)
		if h, ok := left[int64(c.Replace-1)+place]; ok && h == e.Chain { // a statement cannot write again what it removes
			delete(left, int64(c.Replace-1)+place)
			continue
		}
		chains, places = append(chains, e.Chain), append(places, place)
	}
	c.with("segment", "INSERT INTO segments SELECT $1, $2, version + 1, length + 1, "+c.arg(data)+" FROM l")
	if len(left) > 0 {
		at := slices.Sorted(maps.Keys(left))
		gone := make([]decant.Hash, len(at))
		for i, p := range at {
			gone[i] = left[p]
		}
		c.with("gone", "DELETE FROM chains e USING l, unnest("+c.list(gone, at)+") x (chain, position) "+
			"WHERE e.tenant = $1 AND e.session = l.session AND e.chain = x.chain AND e.conversation = $2 AND e.position = x.position")
	}
	if chains != nil {
		c.with("chain", "INSERT INTO chains SELECT $1, l.session, x.chain, $2, l.length + x.n FROM l, unnest("+c.list(chains, places)+") x (chain, n)")
	}
}

// decide appends the decisions.
func (c *commit) decide() error {
	n := len(c.Decisions)
	if n == 0 {
		return nil
	}
	var ids, pours []string
	var targets []decant.Hash
	var created, numbers []int64
	var texts, records, summaries, facts [][]byte
	for i := range c.Decisions {
		r, err := form.NewRecord(&c.Decisions[i])
		if err != nil {
			return err
		}
		ids, pours, targets, created = append(ids, r.ID), append(pours, r.Pour), append(targets, r.Target.Hash), append(created, form.Micros(r.Created))
		texts, records, facts = append(texts, []byte(r.Text)), append(records, r.Rest), append(facts, r.Facts)
		number, summary := 0, ""
		if r.Checkpoint != nil {
			number, summary = r.Checkpoint.Number, r.Checkpoint.Summary
		}
		numbers, summaries = append(numbers, int64(number)), append(summaries, []byte(summary))
	}
	c.with("decision", "INSERT INTO decisions SELECT $1, $2, l.decisions + x.n, l.version + 1, x.id, x.pour, x.target, x.created, x.text, x.record, "+
		"x.checkpoint, x.summary, x.facts FROM l, unnest("+c.list(ids, pours, targets, created, texts, records, numbers, summaries, facts)+
		") WITH ORDINALITY x (id, pour, target, created, text, record, checkpoint, summary, facts, n)")
	return nil
}

func (c *commit) fix() {
	if f := c.Fixed; f != nil {
		values := c.list(f.Version, form.Hash(f.System), form.Hash(f.Tools), f.Tokens)
		c.with("part", "INSERT INTO fixed SELECT $1, "+values+" FROM l ON CONFLICT DO NOTHING")
	}
}

// finish writes the conversation's row, which the statement returns.
func (c *commit) finish() error {
	messages, tokens := "l.messages", 0
	if n := len(c.Entries); n > 0 {
		messages = c.arg(c.Entries[n-1].Message)
	}
	for i := range c.Entries {
		tokens += c.Entries[i].Tokens
	}
	length, tokened := "l.length + "+c.arg(len(c.Entries)), "l.tokens + "+c.arg(tokens)
	decisions, now := "l.decisions + "+c.arg(len(c.Decisions)), c.arg(c.now)
	h := c.Head
	if c.Create != nil {
		o := c.Create.Origin
		if o == nil {
			o = &store.Origin{}
		}
		if h == nil {
			h = &store.Head{}
		}
		anchor, at, err := anchorColumns(c.Batch.Events.Anchor)
		if err != nil {
			return err
		}
		c.with("conversation", "INSERT INTO conversations SELECT $1, $2, l.session, "+
			c.list(c.Create.Agent, c.Create.Project, o.Parent, o.Version, o.Position, o.InForce)+", l.base, l.base_chain, 1, "+length+", "+messages+", "+tokened+", "+decisions+", "+
			c.list(h.Model, h.Fixed, h.Hold, h.Suppressed, h.Pinned, anchor, at)+", "+now+", "+now+" FROM l RETURNING version")
		return nil
	}
	set := "version = l.version + 1, length = " + length + ", messages = " + messages + ", tokens = " + tokened +
		", decisions = " + decisions + ", updated = " + now
	if c.was != nil { // otherwise not named: its index would be written again
		set += ", base = l.base, base_chain = l.base_chain"
	}
	if h != nil {
		set += ", (model, fixed, hold, suppressed, pinned) = ROW (" + c.list(h.Model, h.Fixed, h.Hold, h.Suppressed, h.Pinned) + ")"
	}
	return c.update(set)
}

// refused says why there was no row.
func (c *commit) refused(ctx context.Context, db *database) error {
	rows, err := db.rows(ctx, "SELECT version FROM conversations WHERE tenant = $1 AND id = $2", c.Tenant, c.ID)
	switch {
	case err != nil:
		return err
	case c.Create == nil && len(rows) == 0:
		return noConversation(c.ID)
	case len(rows) > 0:
		if now := rows[0].int64(); now != c.Version {
			return fmt.Errorf("committed for version %d, it has %d: %w", c.Version, now, store.ErrConflict)
		}
	}
	if err := c.missing(ctx, db); err != nil {
		return err
	}
	if c.Create != nil && c.Create.Origin != nil {
		if _, err := db.Version(ctx, store.Key{Tenant: c.Tenant, ID: c.Create.Origin.Parent}); err != nil {
			return fmt.Errorf("parent: %w", err)
		}
	}
	return fmt.Errorf("another conversation has the same beginning: %w", store.ErrConflict)
}
