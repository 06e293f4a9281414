package postgres

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// matchSteps are the numbers of hashes that one query of Match looks for, from the end of the chain: the usual request
// adds a few blocks to what is known. The last one repeats.
var matchSteps = [...]int{64, 1024}

// Match implements store.Matcher. A request that goes on, and one that begins a conversation, cost one round trip.
func (db *database) Match(ctx context.Context, tenant, session string, chain []decant.Hash) (m store.Match, err error) {
	for end, step := len(chain), 0; end > 0 && m.Known == 0 && err == nil; step++ {
		start := max(0, end-matchSteps[min(step, len(matchSteps)-1)])
		var begun bool
		if m, begun, err = db.match(ctx, tenant, session, chain, start, end); !begun {
			break
		}
		end = start
	}
	return m, wrap("match conversation", err)
}

// match looks for the longest known prefix of chain that is longer than start and at most end. It reports whether there may be
// a conversation that begins as the chain does: one that is live, or a fork, whose parent may be gone.
func (db *database) match(ctx context.Context, tenant, session string, chain []decant.Hash, start, end int) (m store.Match, begun bool, err error) {
	index := make(map[decant.Hash]int, end-start)
	for i := start; i < end; i++ {
		index[chain[i]] = i + 1
	}
	results, err := db.do(ctx,
		stmt{`SELECT e.chain, c.id, c.version, max(e.position), c.length, c.updated
			FROM chains e JOIN conversations c ON c.tenant = e.tenant AND c.id = e.conversation
			WHERE e.tenant = $1 AND e.session = $2 AND e.chain = ANY ($3)
			GROUP BY e.chain, c.id, c.version, c.length, c.updated
			UNION ALL SELECT base_chain, id, version, base, length, updated FROM conversations
			WHERE tenant = $1 AND session = $2 AND base_chain <> '' AND base_chain = ANY ($3)`, []any{tenant, session, chain[start:end]}},
		stmt{`SELECT EXISTS (SELECT 1 FROM chains WHERE tenant = $1 AND session = $2 AND chain = $3)
			OR EXISTS (SELECT 1 FROM conversations WHERE tenant = $1 AND session = $2 AND base_chain <> '')`, []any{tenant, session, chain[0]}})
	if err != nil {
		return m, false, err
	}
	for i := range results[0] {
		r := &results[0][i]
		known := index[r.hash()]
		form.Keep(&m, known, store.Line{ID: r.text(), Version: r.int64(), Position: r.int(), Length: r.int(), Updated: r.moment()})
	}
	slices.SortFunc(m.Lines, form.CompareLines)
	return m, results[1][0].bool(), nil
}

// Decided implements store.Matcher.
func (db *database) Decided(ctx context.Context, tenant, session string, hashes []decant.Hash, limit int) (out []store.Key, err error) {
	rows, err := db.rows(ctx, `SELECT id FROM conversations c WHERE tenant = $1 AND session = $2 AND EXISTS (
			SELECT 1 FROM decisions d WHERE d.tenant = c.tenant AND d.conversation = c.id AND d.target <> '' AND d.target = ANY ($3))
		ORDER BY updated DESC, id DESC LIMIT $4`, tenant, session, hashes, limit)
	for i := range rows {
		out = append(out, store.Key{Tenant: tenant, ID: rows[i].text()})
	}
	return out, wrap("find decisions", err)
}
