package postgres

import (
	"cmp"
	"context"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Conversations implements store.Directory.
func (db *database) Conversations(ctx context.Context, f store.Filter) (out []store.Summary, err error) {
	rows, err := db.rows(ctx, `SELECT `+stateColumns+`, c.messages, c.tokens, c.decisions, c.spent_cost, c.spent_bare,
			(SELECT count(*) FROM decisions d WHERE d.tenant = c.tenant AND d.conversation = c.id AND d.checkpoint <> 0),
			(SELECT count(*) FROM requests r WHERE r.tenant = c.tenant AND r.conversation = c.id)
		FROM (SELECT * FROM conversations WHERE tenant = $1 AND updated >= $2 AND ($3 = '' OR session = $3)
			AND ($4 = '' OR session ILIKE $4 || '%' OR id ILIKE $4 || '%')
			AND ($6 = '' OR id IN (SELECT conversation FROM requests WHERE tenant = $1 AND answer_id = $6)) ORDER BY updated DESC, id DESC LIMIT $5) c
		ORDER BY updated DESC, id DESC`, f.Tenant, f.Since, f.Session, form.EscapeLike(f.Name), cmp.Or(f.Limit, 1000), f.AnswerID)
	for i := 0; i < len(rows) && err == nil; i++ {
		r := &rows[i]
		var state *store.State
		if state, err = scanState(f.Tenant, r); err == nil {
			s := store.Summary{Conversation: state.Conversation, Model: state.Head.Model, Pinned: state.Head.Pinned}
			s.Messages, s.Tokens, s.Decisions, s.Cost, s.Without = r.int(), r.int(), r.int(), r.money(), r.money()
			s.Checkpoints, s.Requests = r.int(), r.int()
			out = append(out, s)
		}
	}
	return out, wrap("list conversations", err)
}

// Tenants implements store.Directory. It goes from each tenant to the next one by the index, so that it costs what there are of
// them, and not what there is of conversations.
func (db *database) Tenants(ctx context.Context) (out []string, err error) {
	query := ""
	for _, table := range []string{"conversations", "spent", "memories", "journals"} {
		if query != "" {
			query += " UNION "
		}
		query += `(WITH RECURSIVE t (tenant) AS ((SELECT tenant FROM ` + table + ` ORDER BY tenant LIMIT 1) UNION ALL
			SELECT (SELECT x.tenant FROM ` + table + ` x WHERE x.tenant > t.tenant ORDER BY x.tenant LIMIT 1) FROM t WHERE t.tenant IS NOT NULL)
			SELECT tenant FROM t WHERE tenant IS NOT NULL)`
	}
	rows, err := db.rows(ctx, query+" ORDER BY 1")
	for i := range rows {
		out = append(out, rows[i].text())
	}
	return out, wrap("list tenants", err)
}

// Findings implements store.Findings.
func (db *database) Findings(ctx context.Context, upstream, organization string) (out []store.Finding, err error) {
	rows, err := db.rows(ctx, "SELECT topic, value, time FROM findings WHERE upstream = $1 AND organization = $2 ORDER BY topic", upstream, organization)
	for i := range rows {
		r := &rows[i]
		out = append(out, store.Finding{Upstream: upstream, Organization: organization, Topic: r.text(), Value: r.text(), Time: r.moment()})
	}
	return out, wrap("read findings", err)
}

// Find implements store.Findings.
func (db *database) Find(ctx context.Context, fs ...store.Finding) error {
	var stmts []stmt
	for i := range fs {
		f := &fs[i]
		stmts = append(stmts, stmt{`INSERT INTO findings (upstream, organization, topic, value, time) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (upstream, organization, topic) DO UPDATE SET value = excluded.value, time = excluded.time WHERE excluded.time >= findings.time`,
			[]any{f.Upstream, f.Organization, f.Topic, f.Value, f.Time}})
	}
	if stmts == nil {
		return nil
	}
	_, err := db.do(ctx, stmts...)
	return wrap("store findings", err)
}
