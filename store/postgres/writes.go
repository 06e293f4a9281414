package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// writes are a statement that writes about one conversation: common table expressions, each of which takes what it needs from
// the first, l. Where l has no row, nothing is written. Its first two parameters are tenant and conversation.
type writes struct {
	parts []string
	args  []any

	hashes []decant.Hash // of the contents that it adds
	data   [][]byte
	has    map[decant.Hash]bool // these
	refs   []decant.Hash        // contents that have to be there
	fixed  []decant.Hash        // versions of the fixed part that have to be there
	known  decant.Hash          // the one that it adds itself
	events *store.Events
}

// arg adds a parameter and returns its name.
func (w *writes) arg(v any) string {
	w.args = append(w.args, v)
	return fmt.Sprint("$", len(w.args))
}

// list adds parameters and returns their names.
func (w *writes) list(vs ...any) string {
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = w.arg(v)
	}
	return strings.Join(names, ", ")
}

// with adds a part.
func (w *writes) with(name, sql string) { w.parts = append(w.parts, name+" AS ("+sql+")") }

// query returns the statement. It returns what its last part returns, the conversation's row.
func (w *writes) query() stmt {
	return stmt{w.begin() + "SELECT version FROM conversation", w.args}
}

// begin returns the statement's beginning, its parts.
func (w *writes) begin() string { return "WITH " + strings.Join(w.parts, ",\n") + "\n" }

// collect begins a statement with contents and events, before it has parts.
func (w *writes) collect(k store.Key, e *store.Events, blobs [][]byte, hashes []decant.Hash) error {
	w.args, w.events, w.has = []any{k.Tenant, k.ID}, e, map[decant.Hash]bool{}
	for i, b := range blobs {
		if hashes == nil {
			w.content(b)
		} else {
			w.add(hashes[i], b)
		}
	}
	w.content(e.Blobs...)
	for i := range e.Requests {
		r := &e.Requests[i]
		if r.ID == "" || r.Version < 0 {
			return fmt.Errorf("request with id %q, version %d: %w", r.ID, r.Version, store.ErrInvalid)
		}
		w.refer(r.Frame, r.Answer)
		if r.Planned != nil {
			w.refer(r.Planned.Decisions)
		}
		w.referFixed(r.Fixed)
	}
	for i := range e.Spends {
		if e.Spends[i].ID == "" {
			return fmt.Errorf("spend without an id: %w", store.ErrInvalid)
		}
	}
	return nil
}

// content adds contents, each once.
func (w *writes) content(list ...[]byte) {
	for _, b := range list {
		w.add(form.Hash(b), b)
	}
}

func (w *writes) add(h decant.Hash, b []byte) {
	if b == nil || w.has[h] {
		return
	}
	w.has[h] = true
	w.hashes, w.data = append(w.hashes, h), append(w.data, b)
}

// refer adds contents that have to be there.
func (w *writes) refer(hs ...decant.Hash) {
	for _, h := range hs {
		if !h.IsZero() {
			w.refs = append(w.refs, h)
		}
	}
}

func (w *writes) referFixed(version decant.Hash) {
	if !version.IsZero() && version != w.known && !slices.Contains(w.fixed, version) {
		w.fixed = append(w.fixed, version)
	}
}

// there returns the condition that what is referred to is there.
func (w *writes) there() (where string) {
	slices.SortFunc(w.refs, compareHashes)
	w.refs = slices.DeleteFunc(slices.Compact(w.refs), func(h decant.Hash) bool { return w.has[h] })
	w.fixed = slices.DeleteFunc(w.fixed, func(h decant.Hash) bool { return h == w.known })
	if n := len(w.refs); n > 0 {
		where += " AND (SELECT count(*) FROM blobs WHERE tenant = $1 AND hash = ANY (" + w.arg(w.refs) + ")) = " + w.arg(n)
	}
	if n := len(w.fixed); n > 0 {
		where += " AND (SELECT count(*) FROM fixed WHERE tenant = $1 AND version = ANY (" + w.arg(w.fixed) + ")) = " + w.arg(n)
	}
	return where
}

func compareHashes(a, b decant.Hash) int { return slices.Compare(a[:], b[:]) }

// missing names what is referred to and is not there.
func (w *writes) missing(ctx context.Context, db *database) error {
	tenant := w.args[0]
	results, err := db.do(ctx,
		stmt{"SELECT h FROM unnest($2) h WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE tenant = $1 AND hash = h)", []any{tenant, w.refs}},
		stmt{"SELECT h FROM unnest($2) h WHERE NOT EXISTS (SELECT 1 FROM fixed WHERE tenant = $1 AND version = h)", []any{tenant, w.fixed}})
	switch {
	case err != nil:
		return err
	case len(results[0]) > 0:
		return noBlob(results[0][0].hash())
	case len(results[1]) > 0:
		return fmt.Errorf("fixed part %s: %w", results[1][0].hash(), store.ErrNotFound)
	}
	return nil
}

// store writes contents and events. version is the one of requests that name none, in SQL.
func (w *writes) store(version string) error {
	w.storeBlobs()
	w.hold()
	if err := w.storeRequests(version); err != nil {
		return err
	}
	if len(w.events.Spends) == 0 {
		return nil
	}
	rows, err := spendRows(w.events.Spends)
	w.with("spend", "INSERT INTO spends "+spendColumns+" FROM l, "+fmt.Sprintf(spendFrom, w.arg(rows))+" ON CONFLICT DO NOTHING")
	return err
}

// storeBlobs writes the contents that are new, in the order of their hashes, so that no two commits wait for each other.
func (w *writes) storeBlobs() {
	n := len(w.hashes)
	if n == 0 {
		return
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareHashes(w.hashes[a], w.hashes[b]) })
	hashes, codecs, data := make([]decant.Hash, n), make([]int64, n), make([][]byte, n)
	for at, i := range order {
		codec, stored, _ := form.Encode(nil, w.data[i])
		hashes[at], codecs[at], data[at] = w.hashes[i], int64(codec), stored
	}
	w.with("blob", "INSERT INTO blobs SELECT $1, x.hash, $2, x.codec, x.data FROM l, unnest("+w.list(hashes, codecs, data)+
		") x (hash, codec, data) ON CONFLICT DO NOTHING RETURNING hash")
}

// hold makes the conversation hold the contents that it refers to and that another one added, perhaps at this moment.
func (w *writes) hold() {
	var from []string
	if len(w.hashes) > 0 {
		from = append(from, "SELECT h FROM unnest("+w.arg(w.hashes)+") h WHERE NOT EXISTS (SELECT 1 FROM blob WHERE hash = h)")
	}
	if len(w.refs) > 0 {
		from = append(from, "SELECT h FROM unnest("+w.arg(w.refs)+") h")
	}
	if len(w.fixed) > 0 {
		from = append(from, "SELECT unnest(ARRAY[f.system, f.tools]) FROM fixed f, l "+
			"WHERE f.tenant = $1 AND f.version <> l.fixed AND f.version = ANY ("+w.arg(w.fixed)+")")
	}
	if from == nil {
		return
	}
	w.with("held", "INSERT INTO holds SELECT DISTINCT $1, $2, h FROM l, ("+strings.Join(from, " UNION ALL ")+`) x (h)
		WHERE h <> '' AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.tenant = $1 AND b.hash = h AND b.conversation = $2) ON CONFLICT DO NOTHING`)
}

// A requestRecord is a request as it is stored.
type requestRecord struct {
	store.Request
	Decisions decant.Hash // of Planned
}

func (w *writes) storeRequests(version string) error {
	last := map[string]int{} // of two with one id the later one counts
	for i := range w.events.Requests {
		last[w.events.Requests[i].ID] = i
	}
	var ids, answers []string
	var times, versions, lengths []int64
	var records [][]byte
	for i := range w.events.Requests {
		r := requestRecord{Request: w.events.Requests[i]}
		if last[r.ID] != i {
			continue
		}
		if r.Planned != nil {
			r.Decisions = r.Planned.Decisions
		}
		record, err := form.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode request %s: %w", r.ID, err)
		}
		ids, times, versions, lengths = append(ids, r.ID), append(times, form.Micros(r.Time)), append(versions, r.Version), append(lengths, int64(r.Length))
		answers, records = append(answers, r.AnswerID), append(records, record)
	}
	if ids != nil {
		w.with("request", "INSERT INTO requests SELECT $1, $2, x.id, x.time, CASE x.version WHEN 0 THEN "+version+
			" ELSE x.version END, x.length, x.answer_id, x.record FROM l, unnest("+w.list(ids, times, versions, lengths, answers, records)+`) x (id, time, version, length, answer_id, record)
			ON CONFLICT (tenant, conversation, id) DO UPDATE SET (time, version, length, answer_id, record) =
				ROW (excluded.time, excluded.version, excluded.length, excluded.answer_id, excluded.record)`)
	}
	return nil
}

// update changes the conversation's row, which the statement returns.
func (w *writes) update(set string) error {
	if w.events.Anchor != nil {
		anchor, at, err := anchorColumns(w.events.Anchor)
		if err != nil {
			return err
		}
		time := w.arg(at)
		set += ", anchor = CASE WHEN " + time + " >= l.anchor_time THEN " + w.arg(anchor) + " ELSE c.anchor END" +
			", anchor_time = greatest(c.anchor_time, " + time + ")"
	}
	w.with("conversation", "UPDATE conversations c SET "+set+" FROM l WHERE c.tenant = $1 AND c.id = $2 RETURNING c.version")
	return nil
}

// anchorColumns returns what is stored of an anchor.
func anchorColumns(a *store.Anchor) (anchor []byte, at time.Time, err error) {
	if a == nil {
		return nil, at, nil
	}
	if anchor, err = form.Marshal(a); err != nil {
		return nil, at, fmt.Errorf("encode anchor: %w", err)
	}
	return anchor, a.Time, nil
}

// spendRow is a spend as a row.
type spendRow struct {
	ID         string `json:"id"`
	Time       int64  `json:"time"`
	Day        int64  `json:"day"`
	Model      string `json:"model"`
	Own        int    `json:"own"`
	Purpose    string `json:"purpose"`
	Input      int    `json:"input"`
	CacheRead  int    `json:"cache_read"`
	CacheWrite int    `json:"cache_write"`
	Write1h    int    `json:"write_1h"`
	Output     int    `json:"output"`
	BareInput  int    `json:"bare_input"`
	BareRead   int    `json:"bare_cache_read"`
	BareWrite  int    `json:"bare_cache_write"`
	BareHour   int    `json:"bare_write_1h"`
	BareOutput int    `json:"bare_output"`
	Cost       int64  `json:"cost"`
	Bare       int64  `json:"bare"`
	Rewrite    int64  `json:"rewrite"`
	Over       int    `json:"oversized"`
	Trial      int    `json:"trial"`
	Prompt     int    `json:"trial_prompt"`
	TrialCost  int64  `json:"trial_cost"`
}

const (
	// spendColumns are the columns of spends, and what is inserted into them.
	spendColumns = `(tenant, conversation, id, time, day, model, own, purpose, input, cache_read, cache_write, write_1h, output,
		bare_input, bare_cache_read, bare_cache_write, bare_write_1h, bare_output, cost, bare, rewrite, oversized, trial, trial_prompt, trial_cost)
		SELECT $1, $2, x.id, x.time, x.day, x.model, x.own, x.purpose, x.input, x.cache_read, x.cache_write, x.write_1h, x.output,
		x.bare_input, x.bare_cache_read, x.bare_cache_write, x.bare_write_1h, x.bare_output, x.cost, x.bare, x.rewrite, x.oversized,
		x.trial, x.trial_prompt, x.trial_cost`

	// spendFrom is where they come from; the parameter is what spendRows returns.
	spendFrom = "json_populate_recordset(NULL::spends, %s::json) x"
)

// spendRows returns spends in the order of their times, as JSON.
func spendRows(spends []store.Spend) (string, error) {
	rows := make([]spendRow, len(spends))
	number := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	for i := range spends {
		s := &spends[i]
		u, b, t := s.Usage, s.Without, s.Trial
		if t == nil {
			t = &store.Trial{}
		}
		rows[i] = spendRow{legible(s.ID), form.Micros(s.Time), form.Day(s.Time), legible(s.Model), number(s.Own), legible(s.Purpose),
			u.Input, u.CacheRead, u.CacheWrite, u.Write1h, u.Output, b.Input, b.CacheRead, b.CacheWrite, b.Write1h, b.Output,
			int64(s.Cost), int64(s.Bare), int64(s.Rewrite), number(s.Over), number(s.Trial != nil), t.Prompt, int64(t.Cost)}
	}
	slices.SortStableFunc(rows, func(a, b spendRow) int { return cmp.Compare(a.Time, b.Time) })
	data, err := json.Marshal(rows)
	return string(data), err
}
