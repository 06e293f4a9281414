package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Blobs implements store.Blobs.
func (db *database) Blobs(ctx context.Context, tenant string, hashes ...decant.Hash) ([][]byte, error) {
	rows, err := db.rows(ctx, "SELECT hash, codec, data FROM blobs WHERE tenant = $1 AND hash = ANY ($2)", tenant, hashes)
	if err != nil {
		return nil, wrap("read blobs", err)
	}
	found := make(map[decant.Hash]row, len(rows))
	for _, r := range rows {
		found[r.hash()] = r // which goes on behind the hash
	}
	out := make([][]byte, len(hashes))
	for i, h := range hashes {
		r, ok := found[h]
		if !ok {
			return nil, wrap("read blobs", noBlob(h))
		}
		data, err := form.Decode(r.int(), -1, r.bytes())
		if err != nil {
			return nil, wrap("read blobs", fmt.Errorf("blob %s: %w", h, err))
		}
		out[i] = slices.Clone(form.NonNil(data)) // the same hash may be asked for twice
	}
	return out, nil
}

// Resolve implements store.Blobs.
func (db *database) Resolve(ctx context.Context, k store.Key, h decant.Handle) (o *store.Original, err error) {
	digits, number, err := store.ParseHandle(h)
	if err != nil {
		return nil, err
	}
	if number > 0 {
		o, err = db.checkpoint(ctx, k, number)
	} else {
		o, err = db.block(ctx, k, h, digits)
	}
	if err != nil {
		return nil, wrap("resolve "+string(h), err)
	}
	return o, nil
}

// checkpoint returns the entries that a checkpoint covers, as they were when it was made.
func (db *database) checkpoint(ctx context.Context, k store.Key, number int) (*store.Original, error) {
	l, err := db.lineage(ctx, k, store.Newest)
	if err != nil {
		return nil, err
	}
	s, err := l.state(k.ID, store.Newest)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.Decisions, func(d decant.Decision) bool { return d.Checkpoint != nil && d.Checkpoint.Number == number })
	if i < 0 {
		return nil, fmt.Errorf("checkpoint %d of conversation %s: %w", number, k.ID, store.ErrNotFound)
	}
	for _, id := range l.ids {
		for _, d := range l.decisions[id] {
			if d.ID != s.Decisions[i].ID {
				continue
			}
			chain, err := form.Chain(l, id, d.version)
			if err != nil {
				return nil, err
			}
			o := &store.Original{Key: store.Key{Tenant: k.Tenant, ID: id}, Decision: d.Decision}
			for _, e := range chain {
				if e.Message >= d.Checkpoint.From && e.Message <= d.Checkpoint.To {
					o.Entries = append(o.Entries, e)
				}
			}
			return o, nil
		}
	}
	return nil, fmt.Errorf("decision %s: %w", s.Decisions[i].ID, store.ErrNotFound)
}

// block returns the entry whose text has a hash that begins with digits and that a decision is about: in the conversation and
// its ancestors, or in all of the tenant when k.ID is empty.
func (db *database) block(ctx context.Context, k store.Key, h decant.Handle, digits string) (*store.Original, error) {
	low, high := store.HashRange(digits)
	where, args := "d.tenant = $1 AND d.target >= $2 AND d.target <= $3 AND d.target <> ''", []any{k.Tenant, low[:], high[:]}
	if k.ID != "" {
		l, err := db.lineage(ctx, k, store.Newest)
		if err != nil {
			return nil, err
		}
		where, args = where+" AND d.conversation = ANY ($4)", append(args, l.ids)
	}
	rows, err := db.rows(ctx, "SELECT d.conversation, d.target, "+decisionColumns+" FROM decisions d WHERE "+where+
		" ORDER BY d.target, d.created DESC, d.seq DESC", args...)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("handle %s: %w", h, store.ErrNotFound)
	}
	var candidates []string
	for _, r := range rows {
		r.text()
		if s := "d:" + r.hash().String(); !slices.Contains(candidates, s) {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) > 1 {
		return nil, &store.AmbiguousError{Name: string(h), Candidates: candidates}
	}
	r := &rows[0]
	id, target := r.text(), r.hash()
	d, err := scanDecision(r)
	if err != nil {
		return nil, err
	}
	return db.original(ctx, store.Key{Tenant: k.Tenant, ID: id}, &d, target)
}

// original returns the block that a decision replaced. A decision may be inherited by content from another conversation;
// then any entry with that content is the original.
func (db *database) original(ctx context.Context, k store.Key, d *made, target decant.Hash) (*store.Original, error) {
	l, err := db.lineage(ctx, k, d.version)
	if err != nil {
		return nil, err
	}
	chain, err := form.Chain(l, k.ID, d.version)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(chain, func(e store.Entry) bool { return e.Text == target && e.Ref == d.Target.Ref })
	if i < 0 {
		i = slices.IndexFunc(chain, func(e store.Entry) bool { return e.Text == target })
	}
	if i < 0 {
		return nil, fmt.Errorf("entry with text %s: %w", target, store.ErrNotFound)
	}
	return &store.Original{Key: k, Decision: d.Decision, Entries: chain[i : i+1]}, nil
}
