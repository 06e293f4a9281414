package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Version implements store.Loader.
func (db *database) Version(ctx context.Context, k store.Key) (version int64, err error) {
	err = db.read(ctx, func(r *reader) error {
		var row [1]driver.Value
		err := r.first("SELECT version FROM conversations WHERE tenant = ? AND id = ?", []any{k.Tenant, k.ID}, row[:])
		version, _ = row[0].(int64)
		return err
	})
	return version, wrap("read version of "+k.ID, err)
}

// Load implements store.Loader.
func (db *database) Load(ctx context.Context, k store.Key, version int64) (*store.State, error) {
	var s *store.State
	err := db.snapshot(ctx, func(r *reader) (err error) {
		s, err = load(r, k, version)
		return err
	})
	if err != nil {
		return nil, wrap("load "+k.ID, err)
	}
	return s, nil
}

func load(q querier, k store.Key, version int64) (*store.State, error) {
	s, err := conversation(q, k)
	if err != nil {
		return nil, err
	}
	if version == store.Newest {
		version = s.Version
	}
	if version < 1 || version > s.Version {
		return nil, fmt.Errorf("version %d of %d: %w", version, s.Version, store.ErrNotFound)
	}
	l := lineage{q, k.Tenant}
	if s.Chain, s.Decisions, err = l.state(k.ID, version); err != nil {
		return nil, err
	}
	s.Version, s.Length = version, len(s.Chain)
	return s, nil
}

// conversation reads a conversation's row.
func conversation(q querier, k store.Key) (*store.State, error) {
	s := &store.State{Conversation: store.Conversation{Key: k}}
	var o store.Origin
	var session string
	var agent, project, fixed, anchor []byte
	var created, updated int64
	h := &s.Head
	err := q.row(`SELECT session, agent, project, parent, parent_version, parent_length, parent_in_force, version, length, model, fixed, hold, suppressed, pinned,
		anchor, created, updated FROM conversations WHERE tenant = ? AND id = ?`, []any{k.Tenant, k.ID},
		&session, &agent, &project, &o.Parent, &o.Version, &o.Position, &o.InForce, &s.Version, &s.Length, &h.Model, &fixed, &h.Hold,
		&h.Suppressed, &h.Pinned, &anchor, &created, &updated)
	if err != nil {
		return nil, err
	}
	if o.Parent != "" {
		s.Origin = &o
	}
	h.Fixed, s.Created, s.Updated = q.vault().unhash(k.Tenant, fixed), moment(created), moment(updated)
	if err := q.vault().described(&s.Conversation, session, agent, project); err != nil {
		return nil, err
	}
	if anchor, err = q.vault().open(anchor, of(k, "conversations.anchor")); err != nil {
		return nil, fmt.Errorf("conversation %s: %w", k.ID, err)
	}
	return s, unmarshal(anchor, &s.Anchor)
}

// described sets what says what a conversation is, from the columns of its row.
func (s sealing) described(c *store.Conversation, session string, agent, project []byte) (err error) {
	if c.Session, err = s.openSession(c.Tenant, session); err == nil {
		err = s.opened(&c.Agent, agent, of(c.Key, "conversations.agent"))
	}
	if err == nil {
		err = s.opened(&c.Project, project, of(c.Key, "conversations.project"))
	}
	if err != nil {
		return fmt.Errorf("conversation %s: %w", c.ID, err)
	}
	return nil
}

// lineage reads chains and decisions of conversations through their forks.
type lineage struct {
	querier
	tenant string
}

// An origin is where a conversation left its parent.
type origin struct {
	parent  string // empty: it has none
	version int64  // of the parent
	shared  int    // entries that they shared then
	inForce int64  // version of the parent whose decisions it has
}

func (l lineage) origin(id string) (o origin, err error) {
	err = l.row("SELECT parent, parent_version, parent_length, parent_in_force FROM conversations WHERE tenant = ? AND id = ?",
		[]any{l.tenant, id}, &o.parent, &o.version, &o.shared, &o.inForce)
	if err != nil {
		return o, fmt.Errorf("conversation %s: %w", id, err)
	}
	return o, nil
}

// chain returns the conversation's chain as of version.
func (l lineage) chain(id string, version int64) ([]store.Entry, error) {
	o, err := l.origin(id)
	if err != nil {
		return nil, err
	}
	var chain []store.Entry
	if o.parent != "" {
		if chain, err = l.chain(o.parent, o.version); err != nil {
			return nil, err
		}
		if chain, err = o.common(id, chain); err != nil {
			return nil, err
		}
	}
	return l.own(chain, id, version, nil)
}

// common returns what the conversation shared of the parent's chain when it began.
func (o *origin) common(id string, chain []store.Entry) ([]store.Entry, error) {
	if len(chain) < o.shared {
		return nil, fmt.Errorf("conversation %s shares %d entries of %d: %w", id, o.shared, len(chain), store.ErrCorrupt)
	}
	return chain[:o.shared], nil
}

// state returns chain and decisions as of version.
func (l lineage) state(id string, version int64) ([]store.Entry, []decant.Decision, error) {
	chain, err := l.chain(id, version)
	if err != nil {
		return nil, nil, err
	}
	ds, err := l.decisions(id, version)
	return chain, ds, err
}

// decisions returns the decisions of a conversation as of version, those that it began with first.
// Version 0 is before its first commit.
func (l lineage) decisions(id string, version int64) ([]decant.Decision, error) {
	o, err := l.origin(id)
	if err != nil {
		return nil, err
	}
	var ds []decant.Decision
	if o.parent != "" {
		if ds, err = l.inherited(&o, id); err != nil {
			return nil, err
		}
	}
	own, err := l.decided(id, version)
	return append(ds, own...), err
}

// inherited returns the decisions that a fork began with.
func (l lineage) inherited(o *origin, id string) ([]decant.Decision, error) {
	ds, err := l.decisions(o.parent, o.inForce)
	if err != nil || len(ds) == 0 {
		return nil, err
	}
	chain, err := l.chain(o.parent, o.version)
	if err != nil {
		return nil, err
	}
	if _, err := o.common(id, chain); err != nil {
		return nil, err
	}
	return store.Inherit(ds, chain, o.shared), nil
}

// decided returns the decisions that the conversation has made itself up to version.
func (l lineage) decided(id string, version int64) (ds []decant.Decision, err error) {
	err = l.rows("SELECT "+l.vault().decisionColumns()+" FROM "+decisionTables+` WHERE d.tenant = ? AND d.conversation = ? AND d.version <= ? ORDER BY d.seq`,
		[]any{l.tenant, id, version}, func(rows *sql.Rows) error {
			d, err := l.scanDecision(rows)
			ds = append(ds, d)
			return err
		})
	return ds, err
}

// Fixed implements store.Loader.
func (db *database) Fixed(ctx context.Context, tenant string, version decant.Hash) (*store.Fixed, error) {
	f := &store.Fixed{Version: version}
	err := db.snapshot(ctx, func(r *reader) error {
		u := &unpacker{q: r}
		var system, tools []byte
		err := r.row("SELECT system, tools, tokens FROM fixed WHERE tenant = ? AND version = ?", []any{tenant, r.hash(tenant, version)}, &system, &tools, &f.Tokens)
		if err == nil {
			f.System, err = u.optional(tenant, system)
		}
		if err == nil {
			f.Tools, err = u.optional(tenant, tools)
		}
		return err
	})
	if err != nil {
		return nil, wrap("read fixed part "+version.String(), err)
	}
	return f, nil
}

// optional reads a blob, nil when h names none.
func (u *unpacker) optional(tenant string, h []byte) ([]byte, error) {
	if len(h) == 0 {
		return nil, nil
	}
	return u.blob(tenant, u.q.vault().unhash(tenant, h))
}
