package postgres

import (
	"context"
	"time"

	"github.com/decantdev/decant/store"
)

var _ store.Claims = (*database)(nil)

// Claim implements store.Claims.
func (db *database) Claim(ctx context.Context, k store.Key, work string, at time.Time) (bool, error) {
	results, err := db.do(ctx,
		stmt{"SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2 FOR KEY SHARE", []any{k.Tenant, k.ID}},
		stmt{`INSERT INTO claims SELECT tenant, id, $3, $4 FROM conversations WHERE tenant = $1 AND id = $2
			ON CONFLICT DO NOTHING RETURNING 1`, []any{k.Tenant, k.ID, work, at}})
	if err == nil && len(results[0]) == 0 {
		err = noConversation(k.ID)
	}
	if err != nil {
		return false, wrap("claim work", err)
	}
	return len(results[1]) == 1, nil
}

// Claimed implements store.Claims.
func (db *database) Claimed(ctx context.Context, k store.Key) (out []string, err error) {
	rows, err := db.rows(ctx, "SELECT work FROM claims WHERE tenant = $1 AND conversation = $2 ORDER BY work", k.Tenant, k.ID)
	for i := range rows {
		out = append(out, rows[i].text())
	}
	return out, wrap("list claimed work", err)
}
