package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Resolve implements store.Blobs.
func (db *database) Resolve(ctx context.Context, k store.Key, h decant.Handle) (*store.Original, error) {
	digits, number, err := store.ParseHandle(h)
	if err != nil {
		return nil, err
	}
	var o *store.Original
	err = db.snapshot(ctx, func(r *reader) (err error) {
		if number > 0 {
			o, err = checkpointOriginal(r, k, number)
		} else {
			o, err = blockOriginal(r, k, h, digits)
		}
		return err
	})
	if err != nil {
		return nil, wrap("resolve "+string(h), err)
	}
	return o, nil
}

// checkpointOriginal returns the entries that a checkpoint covers, as they were when it was made.
func checkpointOriginal(q querier, k store.Key, number int) (*store.Original, error) {
	s, err := load(q, k, store.Newest)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.Decisions, func(d decant.Decision) bool { return d.Checkpoint != nil && d.Checkpoint.Number == number })
	if i < 0 {
		return nil, fmt.Errorf("checkpoint %d of conversation %s: %w", number, k.ID, store.ErrNotFound)
	}
	f := found{id: s.Decisions[i].ID}
	if err := f.locate(q, k, s); err != nil {
		return nil, err
	}
	chain, err := form.Chain(lineage{q, k.Tenant}, f.conversation, f.version)
	if err != nil {
		return nil, err
	}
	cp := s.Decisions[i].Checkpoint
	o := &store.Original{Key: store.Key{Tenant: k.Tenant, ID: f.conversation}, Decision: s.Decisions[i]}
	for _, e := range chain {
		if e.Message >= cp.From && e.Message <= cp.To {
			o.Entries = append(o.Entries, e)
		}
	}
	return o, nil
}

// found is a decision in the conversation that made it.
type found struct {
	id           string
	conversation string
	version      int64
	target       decant.Hash
	decision     decant.Decision
}

// locate finds out which conversation of the state's lineage made the decision, and at which
// version.
func (f *found) locate(q querier, k store.Key, s *store.State) error {
	ids, err := form.Ancestors(lineage{q, k.Tenant}, s.ID)
	if err != nil {
		return err
	}
	for _, f.conversation = range ids {
		err = q.row("SELECT version FROM decisions WHERE tenant = ? AND conversation = ? AND id = ?", []any{k.Tenant, f.conversation, f.id}, &f.version)
		if err != sql.ErrNoRows {
			return err
		}
	}
	return fmt.Errorf("decision %s: %w", f.id, err)
}

// blockOriginal returns the entry whose text has a hash that begins with digits.
func blockOriginal(q querier, k store.Key, h decant.Handle, digits string) (*store.Original, error) {
	all, err := decided(q, k, digits)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("handle %s: %w", h, store.ErrNotFound)
	}
	var candidates []string
	for _, f := range all {
		if s := "d:" + f.target.String(); !slices.Contains(candidates, s) {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) > 1 {
		return nil, &store.AmbiguousError{Name: string(h), Candidates: candidates}
	}
	return all[0].original(q, k.Tenant)
}

// decided returns the decisions on originals whose hashes begin with digits, those on each newest first: in the
// conversation and its ancestors, or in all of the tenant when k.ID is empty.
func decided(q querier, k store.Key, digits string) ([]found, error) {
	var ids []string
	if k.ID != "" {
		var err error
		if ids, err = form.Ancestors(lineage{q, k.Tenant}, k.ID); err != nil {
			return nil, err
		}
	}
	var out []found
	targets, err := targets(q, k.Tenant, digits)
	if err != nil {
		return nil, err
	}
	l := lineage{q, k.Tenant}
	for _, target := range targets {
		stored := q.vault().hash(k.Tenant, target)
		err := q.rows("SELECT "+q.vault().decisionColumns()+", d.id, d.conversation, d.version FROM "+decisionTables+`
			WHERE d.tenant = ? AND d.target = ? AND d.target <> x'' ORDER BY d.created DESC, d.seq DESC`,
			[]any{k.Tenant, stored}, func(rows *sql.Rows) (err error) {
				f := found{target: target}
				f.decision, err = l.scanDecision(rows, &f.id, &f.conversation, &f.version)
				if err == nil && (k.ID == "" || slices.Contains(ids, f.conversation)) {
					out = append(out, f)
				}
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// targets returns the hashes of originals that begin with digits. Where they are not stored as they are, and their
// order says nothing, all of the tenant are read.
func targets(q querier, tenant, digits string) (out []decant.Hash, err error) {
	low, high := store.HashRange(digits)
	where, args := "target >= ? AND target <= ?", []any{tenant, low[:], high[:]}
	if q.vault().box != nil {
		where, args = "true", args[:1]
	}
	err = q.rows("SELECT DISTINCT target FROM decisions WHERE tenant = ? AND target <> x'' AND "+where+" ORDER BY target", args, func(rows *sql.Rows) error {
		var stored sql.RawBytes
		err := rows.Scan(&stored)
		if h := q.vault().unhash(tenant, stored); slices.Compare(h[:], low[:]) >= 0 && slices.Compare(h[:], high[:]) <= 0 {
			out = append(out, h)
		}
		return err
	})
	return out, err
}

// original returns the block that the decision replaced. A decision may be inherited by content
// from another conversation; then any entry with that content is the original.
func (f *found) original(q querier, tenant string) (*store.Original, error) {
	o := &store.Original{Key: store.Key{Tenant: tenant, ID: f.conversation}, Decision: f.decision}
	chain, err := form.Chain(lineage{q, tenant}, f.conversation, f.version)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(chain, func(e store.Entry) bool { return e.Text == f.target && e.Ref == f.decision.Target.Ref })
	if i < 0 {
		i = slices.IndexFunc(chain, func(e store.Entry) bool { return e.Text == f.target })
	}
	if i < 0 {
		return nil, fmt.Errorf("entry with text %s: %w", f.target, store.ErrNotFound)
	}
	o.Entries = chain[i : i+1]
	return o, nil
}
