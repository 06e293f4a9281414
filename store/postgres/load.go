package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Version implements store.Loader.
func (db *database) Version(ctx context.Context, k store.Key) (int64, error) {
	rows, err := db.rows(ctx, "SELECT version FROM conversations WHERE tenant = $1 AND id = $2", k.Tenant, k.ID)
	if err == nil && len(rows) == 0 {
		err = noConversation(k.ID)
	}
	if err != nil {
		return 0, wrap("read version", err)
	}
	return rows[0].int64(), nil
}

// Load implements store.Loader.
func (db *database) Load(ctx context.Context, k store.Key, version int64) (*store.State, error) {
	l, err := db.lineage(ctx, k, version)
	if err == nil {
		var s *store.State
		if s, err = l.state(k.ID, version); err == nil {
			return s, nil
		}
	}
	return nil, wrap("load "+k.ID, err)
}

// Branch implements store.Loader.
func (db *database) Branch(ctx context.Context, k store.Key, version int64, position, seen int) (*store.Branch, error) {
	l, err := db.lineage(ctx, k, version)
	if err == nil {
		var b *store.Branch
		if b, err = form.Branch(l, k.ID, version, position, seen); err == nil {
			return b, nil
		}
	}
	return nil, wrap("find the branch point in "+k.ID, err)
}

// A lineage is a conversation with those that it was forked from, read at one moment.
type lineage struct {
	ids       []string // nearest first
	states    map[string]*store.State
	segments  map[string][]segment
	decisions map[string][]made
}

type segment struct {
	version  int64
	position int
	data     []byte
}

// A made decision is one with the version that made it.
type made struct {
	version int64
	decant.Decision
}

// line finds a conversation and those that it was forked from, each with the last version that counts of it.
const line = `WITH RECURSIVE line (id, parent, parent_version, upto, depth) AS (
	SELECT id, parent, parent_version, $3, 1 FROM conversations WHERE tenant = $1 AND id = $2
	UNION ALL SELECT c.id, c.parent, c.parent_version, line.parent_version, depth + 1
		FROM line JOIN conversations c ON c.tenant = $1 AND c.id = line.parent WHERE line.parent <> '') `

const stateColumns = `c.id, c.session, c.agent, c.project, c.parent, c.parent_version, c.parent_length, c.parent_in_force, c.version, c.length,
	c.created, c.updated, c.model, c.fixed, c.hold, c.suppressed, c.pinned, c.anchor`

const decisionColumns = "d.version, d.pour, d.text, d.record, d.summary, d.facts"

// lineage reads what is needed for the state of a conversation as of version.
func (db *database) lineage(ctx context.Context, k store.Key, version int64) (*lineage, error) {
	if version == store.Newest {
		version = math.MaxInt64
	}
	args := []any{k.Tenant, k.ID, version}
	results, err := db.snapshot(ctx,
		stmt{line + "SELECT " + stateColumns + " FROM line JOIN conversations c ON c.tenant = $1 AND c.id = line.id ORDER BY depth", args},
		stmt{line + `SELECT line.id, s.version, s.position, s.data FROM line JOIN segments s
			ON s.tenant = $1 AND s.conversation = line.id AND s.version <= upto ORDER BY depth, s.version`, args},
		stmt{line + "SELECT line.id, " + decisionColumns + ` FROM line JOIN decisions d
			ON d.tenant = $1 AND d.conversation = line.id AND d.version <= upto ORDER BY depth, d.seq`, args})
	if err != nil {
		return nil, err
	}
	l := &lineage{states: map[string]*store.State{}, segments: map[string][]segment{}, decisions: map[string][]made{}}
	for i := range results[1] {
		s, err := scanState(k.Tenant, &results[1][i])
		if err != nil {
			return nil, err
		}
		l.ids, l.states[s.ID] = append(l.ids, s.ID), s
	}
	for i := range results[2] {
		r := &results[2][i]
		id := r.text()
		l.segments[id] = append(l.segments[id], segment{r.int64(), r.int(), r.bytes()})
	}
	for i := range results[3] {
		r := &results[3][i]
		id := r.text()
		d, err := scanDecision(r)
		if err != nil {
			return nil, fmt.Errorf("conversation %s: %w", id, err)
		}
		l.decisions[id] = append(l.decisions[id], d)
	}
	if len(l.ids) == 0 {
		return nil, noConversation(k.ID)
	}
	return l, nil
}

// scanState reads what a conversation's row has of its state.
func scanState(tenant string, r *row) (*store.State, error) {
	s := &store.State{}
	scanConversation(tenant, r, &s.Conversation)
	h := &s.Head
	h.Model, h.Fixed, h.Hold, h.Suppressed, h.Pinned = r.text(), r.hash(), r.bool(), r.int(), r.bool()
	return s, form.Unmarshal(r.bytes(), &s.Anchor)
}

// scanConversation reads the first columns of stateColumns, up to updated.
func scanConversation(tenant string, r *row, c *store.Conversation) {
	var o store.Origin
	c.Tenant = tenant
	c.ID, c.Session, c.Agent, c.Project = r.text(), r.text(), r.text(), r.text()
	o.Parent, o.Version, o.Position, o.InForce = r.text(), r.int64(), r.int(), r.int64()
	c.Version, c.Length, c.Created, c.Updated = r.int64(), r.int(), r.moment(), r.moment()
	if o.Parent != "" {
		c.Origin = &o
	}
}

// scanDecision reads decisionColumns.
func scanDecision(r *row) (d made, err error) {
	d.version = r.int64()
	pour, text, record, summary, facts := r.text(), string(r.bytes()), r.bytes(), string(r.bytes()), r.bytes()
	if err := form.Unmarshal(record, &d.Decision); err != nil {
		return d, fmt.Errorf("decode decision: %w", err)
	}
	d.Pour, d.Text = pour, text
	if cp := d.Checkpoint; cp != nil {
		cp.Summary = summary
		err = form.Unmarshal(facts, &cp.Facts)
	}
	return d, err
}

// state returns the state as of a version.
func (l *lineage) state(id string, version int64) (s *store.State, err error) {
	s = l.states[id]
	if version == store.Newest {
		version = s.Version
	}
	if version < 1 || version > s.Version {
		return nil, fmt.Errorf("version %d of %d: %w", version, s.Version, store.ErrNotFound)
	}
	if s.Chain, err = form.Chain(l, id, version); err != nil {
		return nil, err
	}
	if s.Decisions, err = form.Decisions(l, id, version); err != nil {
		return nil, err
	}
	s.Version, s.Length = version, len(s.Chain)
	return s, nil
}

// Origin implements form.Source.
func (l *lineage) Origin(id string) (o store.Origin, err error) {
	s, ok := l.states[id]
	if !ok {
		return o, noConversation(id)
	}
	if s.Origin != nil {
		o = *s.Origin
	}
	return o, nil
}

// Segments implements form.Source.
func (l *lineage) Segments(id string, version int64, each func(int64, int, []byte) error) error {
	for _, s := range l.segments[id] {
		if s.version > version {
			break
		}
		if err := each(s.version, s.position, s.data); err != nil {
			return fmt.Errorf("conversation %s: %w", id, err)
		}
	}
	return nil
}

// Decided implements form.Source.
func (l *lineage) Decided(id string, version int64) (ds []decant.Decision, err error) {
	for _, d := range l.decisions[id] {
		if d.version <= version {
			ds = append(ds, d.Decision)
		}
	}
	return ds, nil
}

// MadeBy implements form.Source.
func (l *lineage) MadeBy(id string, version int64) (ids []string, err error) {
	for _, d := range l.decisions[id] {
		if d.version == version {
			ids = append(ids, d.ID)
		}
	}
	return ids, nil
}

// Fixed implements store.Loader.
func (db *database) Fixed(ctx context.Context, tenant string, version decant.Hash) (*store.Fixed, error) {
	rows, err := db.rows(ctx, `SELECT f.tokens, f.system, s.codec, s.data, f.tools, t.codec, t.data FROM fixed f
		LEFT JOIN blobs s ON s.tenant = f.tenant AND s.hash = f.system LEFT JOIN blobs t ON t.tenant = f.tenant AND t.hash = f.tools
		WHERE f.tenant = $1 AND f.version = $2`, tenant, version)
	if err == nil && len(rows) == 0 {
		err = store.ErrNotFound
	}
	f := &store.Fixed{Version: version}
	if err == nil {
		r := &rows[0]
		f.Tokens = r.int()
		if f.System, err = r.optional(); err == nil {
			f.Tools, err = r.optional()
		}
	}
	if err != nil {
		return nil, wrap("read fixed part "+version.String(), err)
	}
	return f, nil
}

// optional reads a blob's hash, codec and data, nil where the hash names none.
func (r *row) optional() ([]byte, error) {
	h, codec, data := r.hash(), r.int(), r.bytes()
	if h.IsZero() {
		return nil, nil
	}
	if data == nil {
		return nil, noBlob(h)
	}
	return form.Decode(codec, -1, data)
}
