package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// matchSteps are the numbers of hashes that one query of Match looks for, from the end of the
// chain: the usual request adds a few blocks to what is known. The last one repeats.
var matchSteps = [...]int{16, 128, 1024}

// Match implements store.Matcher.
func (db *database) Match(ctx context.Context, tenant, session string, chain []decant.Hash) (store.Match, error) {
	var m store.Match
	err := db.read(ctx, func(r *reader) (err error) {
		if begun, err := begun(r, tenant, session, chain); !begun || err != nil {
			return err
		}
		for end, step := len(chain), 0; end > 0 && m.Known == 0 && err == nil; step++ {
			start := max(0, end-matchSteps[min(step, len(matchSteps)-1)])
			m, err = match(r, tenant, session, chain, start, end)
			end = start
		}
		return err
	})
	return m, wrap("match conversation", err)
}

// begun reports whether there may be a conversation whose chain begins as a chain does. It is one or two
// indexed reads, and the answer to most requests that begin a conversation.
func begun(r *reader, tenant, session string, chain []decant.Hash) (bool, error) {
	if len(chain) == 0 {
		return false, nil
	}
	stored := r.session(tenant, session)
	names := [...]string{r.short(stored), stored}
	for i, query := range [...]string{
		"SELECT 1 FROM chains WHERE tenant = ? AND session = ? AND chain = ? LIMIT 1",
		"SELECT 1 FROM conversations WHERE tenant = ? AND session = ? AND base_chain > x'' LIMIT 1", // a fork, whose parent may be gone
	} {
		var one [1]driver.Value
		args := []any{tenant, names[i], r.hash(tenant, chain[0])}
		err := r.first(query, args[:strings.Count(query, "?")], one[:])
		if !errors.Is(err, sql.ErrNoRows) {
			return err == nil, err
		}
	}
	return false, nil
}

// match looks for the longest known prefix of chain that is longer than start and at most end.
func match(q querier, tenant, session string, chain []decant.Hash, start, end int) (store.Match, error) {
	index := make(map[decant.Hash]int, end-start)
	for i := start; i < end; i++ {
		index[chain[i]] = i + 1
	}
	s, name := q.vault(), q.vault().session(tenant, session)
	in, hashes := s.oneOf(tenant, chain[start:end])
	args := append([]any{tenant, s.short(name)}, hashes...)
	args = append(append(args, tenant, name), hashes...)
	var m store.Match
	err := q.rows(`SELECT e.chain, c.id, c.version, max(e.position), c.length, c.updated
		FROM chains e JOIN conversations c ON c.tenant = e.tenant AND c.id = e.conversation
		WHERE e.tenant = ? AND e.session = ? AND e.chain IN `+in+`
		GROUP BY e.chain, c.id, c.version, c.length, c.updated
		UNION ALL SELECT base_chain, id, version, base, length, updated FROM conversations INDEXED BY conversations_base
		WHERE tenant = ? AND session = ? AND base_chain IN `+in, args, func(rows *sql.Rows) error {
		var chain []byte
		var l store.Line
		var updated int64
		if err := rows.Scan(&chain, &l.ID, &l.Version, &l.Position, &l.Length, &updated); err != nil {
			return err
		}
		l.Updated = form.Moment(updated)
		form.Keep(&m, index[s.unhash(tenant, chain)], l)
		return nil
	})
	slices.SortFunc(m.Lines, form.CompareLines)
	return m, err
}

// oneOf returns a list of parameters for IN and their values. The list has one of few lengths, so
// that there are few statements; the last hash fills it up.
func (s sealing) oneOf(tenant string, hashes []decant.Hash) (string, []any) {
	n := 1
	for _, n = range matchSteps {
		if n >= len(hashes) {
			break
		}
	}
	args := make([]any, n)
	for i := range args {
		args[i] = s.hash(tenant, hashes[min(i, len(hashes)-1)])
	}
	return "(?" + strings.Repeat(", ?", n-1) + ")", args
}

// Decided implements store.Matcher.
func (db *database) Decided(ctx context.Context, tenant, session string, hashes []decant.Hash, limit int) ([]store.Key, error) {
	updated := map[string]int64{}
	err := db.read(ctx, func(r *reader) error {
		for part := range slices.Chunk(hashes, matchSteps[len(matchSteps)-1]) {
			in, args := r.oneOf(tenant, part)
			err := r.rows(`SELECT DISTINCT v.id, v.updated FROM decisions d JOIN conversations v ON v.tenant = d.tenant AND v.id = d.conversation
				WHERE d.tenant = ? AND d.target IN `+in+` AND d.target <> x'' AND v.session = ?`, append(append([]any{tenant}, args...), r.session(tenant, session)), func(rows *sql.Rows) error {
				var id string
				var at int64
				err := rows.Scan(&id, &at)
				updated[id] = at
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	ids := slices.SortedFunc(maps.Keys(updated), func(a, b string) int {
		return cmp.Or(cmp.Compare(updated[b], updated[a]), cmp.Compare(b, a))
	})
	var out []store.Key
	for _, id := range ids[:min(limit, len(ids))] {
		out = append(out, store.Key{Tenant: tenant, ID: id})
	}
	return out, wrap("find decisions", err)
}
