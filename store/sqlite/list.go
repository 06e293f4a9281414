package sqlite

import (
	"context"
	"database/sql"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

const summaryColumns = `c.id, c.session, c.agent, c.project, c.parent, c.parent_version, c.parent_length, c.parent_in_force, c.version, c.length, c.created, c.updated,
	c.model, c.messages, c.tokens, c.decisions, c.pinned,
	(SELECT count(*) FROM checkpoints p WHERE p.tenant = c.tenant AND p.conversation = c.id),
	(SELECT count(*) FROM requests r WHERE r.tenant = c.tenant AND r.conversation = c.id),
	c.spent_cost, c.spent_bare`

// tenantsQuery goes from each tenant to the next one by the index, so that it costs what there are of them, and not
// what there is of conversations.
const tenantsQuery = `WITH RECURSIVE
	held (tenant) AS (SELECT min(tenant) FROM conversations
		UNION ALL SELECT (SELECT min(c.tenant) FROM conversations c WHERE c.tenant > held.tenant) FROM held WHERE held.tenant IS NOT NULL),
	booked (tenant) AS (SELECT min(tenant) FROM spent
		UNION ALL SELECT (SELECT min(s.tenant) FROM spent s WHERE s.tenant > booked.tenant) FROM booked WHERE booked.tenant IS NOT NULL),
	kept (tenant) AS (SELECT min(tenant) FROM memories
		UNION ALL SELECT (SELECT min(m.tenant) FROM memories m WHERE m.tenant > kept.tenant) FROM kept WHERE kept.tenant IS NOT NULL),
	written (tenant) AS (SELECT min(tenant) FROM journals
		UNION ALL SELECT (SELECT min(j.tenant) FROM journals j WHERE j.tenant > written.tenant) FROM written WHERE written.tenant IS NOT NULL)
	SELECT tenant FROM held WHERE tenant IS NOT NULL UNION SELECT tenant FROM booked WHERE tenant IS NOT NULL
	UNION SELECT tenant FROM kept WHERE tenant IS NOT NULL UNION SELECT tenant FROM written WHERE tenant IS NOT NULL ORDER BY 1`

// Tenants implements store.Directory.
func (db *database) Tenants(ctx context.Context) (out []string, err error) {
	err = db.rows(ctx, tenantsQuery, nil, func(rows *sql.Rows) error {
		var tenant string
		err := rows.Scan(&tenant)
		out = append(out, tenant)
		return err
	})
	return out, wrap("list tenants", err)
}

// Conversations implements store.Directory.
func (db *database) Conversations(ctx context.Context, f store.Filter) ([]store.Summary, error) {
	where, args := "c.tenant = ? AND c.updated >= ?", []any{f.Tenant, form.Micros(f.Since)}
	if f.Session != "" {
		where, args = where+" AND c.session = ?", append(args, db.how.session(f.Tenant, f.Session))
	}
	if f.AnswerID != "" {
		where += " AND c.id IN (SELECT conversation FROM requests WHERE tenant = ? AND answer_id = ?)"
		args = append(args, f.Tenant, f.AnswerID)
	}
	if f.Limit == 0 {
		f.Limit = 1000
	}
	switch {
	case f.Name != "" && db.how.box != nil:
		var ids string
		if err := db.read(ctx, func(r *reader) (err error) { ids, err = idsNamed(r, f); return err }); err != nil {
			return nil, wrap("list conversations", err)
		}
		where, args = where+" AND c.id IN (SELECT value FROM json_each(?))", append(args, ids)
	case f.Name != "":
		where += ` AND (c.session LIKE ? ESCAPE '\' OR c.id LIKE ? ESCAPE '\')`
		begins := form.EscapeLike(f.Name) + "%"
		args = append(args, begins, begins)
	}
	var out []store.Summary
	err := db.rows(ctx, "SELECT "+summaryColumns+" FROM conversations c WHERE "+where+" ORDER BY c.updated DESC, c.id DESC LIMIT ?",
		append(args, f.Limit), func(rows *sql.Rows) error {
			s, err := db.how.scanSummary(f.Tenant, rows)
			out = append(out, s)
			return err
		})
	return out, wrap("list conversations", err)
}

// idsNamed returns the ids of the tenant's conversations that have a name, as a list in JSON. Where names of sessions are
// encrypted they are compared when they have been opened.
func idsNamed(r *reader, f store.Filter) (string, error) {
	ids := []string{}
	err := r.rows("SELECT id, session FROM conversations WHERE tenant = ?", []any{f.Tenant}, func(rows *sql.Rows) error {
		var id, stored string
		if err := rows.Scan(&id, &stored); err != nil {
			return err
		}
		session, err := r.openSession(f.Tenant, stored)
		if form.BeginsWith(session, f.Name) || form.BeginsWith(id, f.Name) {
			ids = append(ids, id)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	list, err := form.Marshal(ids)
	return string(list), err
}

func (h sealing) scanSummary(tenant string, rows *sql.Rows) (s store.Summary, err error) {
	s.Tenant = tenant
	var o store.Origin
	var session string
	var agent, project []byte
	var created, updated int64
	err = rows.Scan(&s.ID, &session, &agent, &project, &o.Parent, &o.Version, &o.Position, &o.InForce, &s.Version, &s.Length, &created, &updated,
		&s.Model, &s.Messages, &s.Tokens, &s.Decisions, &s.Pinned, &s.Checkpoints, &s.Requests, &s.Cost, &s.Without)
	if err != nil {
		return s, err
	}
	s.Created, s.Updated = form.Moment(created), form.Moment(updated)
	if o.Parent != "" {
		s.Origin = &o
	}
	return s, h.described(&s.Conversation, session, agent, project)
}
