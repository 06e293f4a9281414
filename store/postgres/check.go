package postgres

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var _ store.Checker = (*database)(nil)

// checked is how many blobs are read at a time.
const checked = 500

// Check implements store.Checker. What the server can know to be wrong, such as damaged pages, its own tools find.
func (db *database) Check(ctx context.Context) (wrong []string, err error) {
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	rows, err := db.rows(ctx, "SELECT tenant, id FROM conversations ORDER BY tenant, id")
	for i := 0; i < len(rows) && err == nil; i++ {
		err = db.checkConversation(ctx, store.Key{Tenant: rows[i].text(), ID: rows[i].text()}, report)
	}
	if err == nil {
		err = db.checkBlobs(ctx, report)
	}
	if err == nil {
		err = db.checkSums(ctx, report)
	}
	return wrong, wrap("check", err)
}

// checkConversation reads a conversation whole: its chain, what holds it, and whether Match finds it.
func (db *database) checkConversation(ctx context.Context, k store.Key, report func(string, ...any)) error {
	s, err := db.Load(ctx, k, store.Newest)
	if err != nil {
		if ctx.Err() == nil {
			report("conversation %q of tenant %q cannot be loaded: %v", k.ID, k.Tenant, err)
		}
		return ctx.Err()
	}
	base := 0
	if s.Origin != nil {
		base = s.Origin.Position
	}
	var needed []decant.Hash
	for i := range s.Chain {
		if i >= base {
			needed = append(needed, s.Chain[i].Raw, s.Chain[i].Text)
		}
	}
	for i := range s.Decisions {
		needed = append(needed, s.Decisions[i].Target.Hash)
	}
	results, err := db.do(ctx,
		stmt{`SELECT DISTINCT h FROM unnest($3) h WHERE h <> '' AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.tenant = $1 AND b.hash = h
			AND (b.conversation = $2 OR $4 OR EXISTS (SELECT 1 FROM holds o WHERE o.tenant = $1 AND o.conversation = $2 AND o.hash = h)))`,
			[]any{k.Tenant, k.ID, needed, s.Origin != nil}},
		stmt{`SELECT count(*) FROM chains e JOIN conversations c ON c.tenant = e.tenant AND c.session = e.session AND c.id = e.conversation
			WHERE e.tenant = $1 AND e.conversation = $2 AND e.position <= c.length`, []any{k.Tenant, k.ID}},
		stmt{"SELECT length - base, length, version FROM conversations WHERE tenant = $1 AND id = $2", []any{k.Tenant, k.ID}})
	if err != nil || len(results[2]) == 0 { // removed meanwhile
		return err
	}
	for i := range results[0] {
		report("conversation %q of tenant %q does not hold blob %s", k.ID, k.Tenant, results[0][i].hash())
	}
	r := &results[2][0]
	own, length, version := r.int(), r.int(), r.int64()
	if known := results[1][0].int(); version == s.Version && (known != own || length != len(s.Chain)) {
		report("conversation %q of tenant %q has %d entries, %d of its own, but %d are there and %d are known", k.ID, k.Tenant, length, own, len(s.Chain), known)
	}
	return nil
}

// checkBlobs reads all contents.
func (db *database) checkBlobs(ctx context.Context, report func(string, ...any)) error {
	tenant, last := "", []byte{}
	for {
		rows, err := db.rows(ctx, `SELECT tenant, hash, codec, data FROM blobs WHERE (tenant, hash) > ($1, $2) ORDER BY tenant, hash LIMIT $3`,
			tenant, last, checked)
		if err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			r := &rows[i]
			tenant, last = r.text(), r.bytes()
			data, err := form.Decode(r.int(), -1, r.bytes())
			if h := decant.Hash(last); err != nil || form.Hash(data) != h {
				report("blob %s of tenant %q is damaged", h, tenant)
			}
		}
	}
}

// checkSums compares what was spent with its sums.
func (db *database) checkSums(ctx context.Context, report func(string, ...any)) error {
	rows, err := db.rows(ctx, `SELECT tenant, day FROM (
			SELECT tenant, day, input + cache_read + cache_write + output AS tokens, cost FROM spends
			UNION ALL SELECT tenant, day, -tokens, -cost FROM spent) x
		GROUP BY tenant, day HAVING sum(tokens) <> 0 OR sum(cost) <> 0`)
	for i := range rows {
		report("tenant %q: what was spent on day %d is not the sum that is kept", rows[i].text(), rows[i].int())
	}
	return err
}
