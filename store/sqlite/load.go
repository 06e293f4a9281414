package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
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
	if s.Chain, err = form.Chain(l, k.ID, version); err != nil {
		return nil, err
	}
	if s.Decisions, err = form.Decisions(l, k.ID, version); err != nil {
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
	h.Fixed, s.Created, s.Updated = q.vault().unhash(k.Tenant, fixed), form.Moment(created), form.Moment(updated)
	if err := q.vault().described(&s.Conversation, session, agent, project); err != nil {
		return nil, err
	}
	if anchor, err = q.vault().open(anchor, of(k, "conversations.anchor")); err != nil {
		return nil, fmt.Errorf("conversation %s: %w", k.ID, err)
	}
	return s, form.Unmarshal(anchor, &s.Anchor)
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

// Origin implements form.Source.
func (l lineage) Origin(id string) (o store.Origin, err error) {
	err = l.row("SELECT parent, parent_version, parent_length, parent_in_force FROM conversations WHERE tenant = ? AND id = ?",
		[]any{l.tenant, id}, &o.Parent, &o.Version, &o.Position, &o.InForce)
	if err != nil {
		return o, fmt.Errorf("conversation %s: %w", id, err)
	}
	return o, nil
}

// Segments implements form.Source.
func (l lineage) Segments(id string, until int64, each func(version int64, position int, data []byte) error) error {
	return l.rows("SELECT version, position, data FROM segments WHERE tenant = ? AND conversation = ? AND version <= ? ORDER BY version",
		[]any{l.tenant, id, until}, func(rows *sql.Rows) error {
			var version int64
			var position int
			var stored sql.RawBytes
			if err := rows.Scan(&version, &position, &stored); err != nil {
				return err
			}
			data, err := l.vault().open(stored, segmentPlace(store.Key{Tenant: l.tenant, ID: id}, version, position))
			if err == nil {
				err = each(version, position, data)
			}
			if err != nil {
				return fmt.Errorf("conversation %s: %w", id, err)
			}
			return nil
		})
}

// MadeBy implements form.Source.
func (l lineage) MadeBy(id string, version int64) (out []string, err error) {
	err = l.rows("SELECT id FROM decisions WHERE tenant = ? AND conversation = ? AND version = ? ORDER BY seq", []any{l.tenant, id, version}, func(rows *sql.Rows) error {
		var d string
		err := rows.Scan(&d)
		out = append(out, d)
		return err
	})
	return out, err
}

// Decided implements form.Source.
func (l lineage) Decided(id string, version int64) (ds []decant.Decision, err error) {
	err = l.rows("SELECT "+l.vault().decisionColumns()+" FROM "+decisionTables+` WHERE d.tenant = ? AND d.conversation = ? AND d.version <= ? ORDER BY d.seq`,
		[]any{l.tenant, id, version}, func(rows *sql.Rows) error {
			d, err := l.scanDecision(rows)
			ds = append(ds, d)
			return err
		})
	return ds, err
}

// Branch implements store.Loader.
func (db *database) Branch(ctx context.Context, k store.Key, version int64, position, seen int) (*store.Branch, error) {
	var b *store.Branch
	err := db.snapshot(ctx, func(r *reader) (err error) {
		b, err = form.Branch(lineage{r, k.Tenant}, k.ID, version, position, seen)
		return err
	})
	if err != nil {
		return nil, wrap("find the branch point in "+k.ID, err)
	}
	return b, nil
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
