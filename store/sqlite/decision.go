package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// decide appends the commit's decisions.
func (c *commit) decide(t *tx) error {
	for i := range c.records {
		r := &c.records[i]
		if err := c.refer(t, r.Target.Hash); err != nil {
			return fmt.Errorf("original of decision %s: %w", r.ID, err)
		}
		c.head.decisions++
		at := func(column string) seal.Place {
			return decisionPlace(c.Key, column, r.ID, int64(c.head.decisions), c.head.version)
		}
		if err := t.exec(`INSERT INTO decisions (tenant, conversation, seq, version, id, pour, kind, target, revokes, created, text, record)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Tenant, c.ID, c.head.decisions, c.head.version, r.ID, r.Pour, string(r.Kind), t.some(c.Tenant, r.Target.Hash), r.Revokes,
			form.Micros(r.Created), t.seal([]byte(r.Text), at("decisions.text")), t.seal(r.Rest, at("decisions.record"))); err != nil {
			return fmt.Errorf("decision %s: %w", r.ID, err)
		}
		if err := c.checkpoint(t, r); err != nil {
			return fmt.Errorf("checkpoint of decision %s: %w", r.ID, err)
		}
	}
	return nil
}

func (c *commit) checkpoint(t *tx, r *form.Record) error {
	cp := r.Checkpoint
	if cp == nil {
		return nil
	}
	at := func(column string) seal.Place { return checkpointPlace(c.Key, column, r.ID, int64(cp.Number)) }
	return t.exec(`INSERT INTO checkpoints (tenant, conversation, checkpoint_num, decision, from_message, to_message, messages_compressed,
		summary_content, key_facts, original_tokens, compressed_tokens, compression_ratio, summary_cost_usd, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Tenant, c.ID, cp.Number, r.ID, cp.From, cp.To, cp.Messages,
		t.seal([]byte(cp.Summary), at("checkpoints.summary_content")), t.text(string(r.Facts), at("checkpoints.key_facts")), cp.Original, cp.Compressed, form.Ratio(cp), cp.CostUSD, form.Micros(r.Created))
}

// decisionColumns are the columns that scanDecision reads, of decisions d left-joined to their
// checkpoints c: what it is, and, where that is sealed, what makes its place.
func (s sealing) decisionColumns() string {
	if s.box == nil {
		return "d.pour, d.text, d.record, c.summary_content, c.key_facts"
	}
	return "d.pour, d.text, d.record, c.summary_content, c.key_facts, d.conversation, d.id, d.seq, d.version, c.checkpoint_num"
}

const decisionTables = `decisions d LEFT JOIN checkpoints c
	ON c.tenant = d.tenant AND c.conversation = d.conversation AND c.decision = d.id AND d.kind = 'checkpoint'`

// A decisionRow is a row of decisionColumns.
type decisionRow struct {
	store.Key
	id, pour       string
	seq, version   int64
	text, rest     []byte
	number         sql.NullInt64 // of the checkpoint
	summary, facts []byte
}

// scanDecision reads a decision, and the further columns that follow its own into more.
func (l lineage) scanDecision(rows *sql.Rows, more ...any) (d decant.Decision, err error) {
	r := decisionRow{Key: store.Key{Tenant: l.tenant}}
	dest := []any{&r.pour, &r.text, &r.rest, &r.summary, &r.facts}
	if l.vault().box != nil {
		dest = append(dest, &r.ID, &r.id, &r.seq, &r.version, &r.number)
	}
	if err = rows.Scan(append(dest, more...)...); err != nil {
		return d, err
	}
	return r.decision(l.vault())
}

// decision returns the decision of a row.
func (r *decisionRow) decision(s sealing) (d decant.Decision, err error) {
	at := func(column string) seal.Place { return decisionPlace(r.Key, column, r.id, r.seq, r.version) }
	if r.rest, err = s.open(r.rest, at("decisions.record")); err != nil {
		return d, fmt.Errorf("decision %s: %w", r.id, err)
	}
	if err = form.Unmarshal(r.rest, &d); err != nil {
		return d, fmt.Errorf("decode decision: %w", err)
	}
	d.Pour = r.pour
	if err = s.opened(&d.Text, r.text, at("decisions.text")); err != nil {
		return d, fmt.Errorf("decision %s: %w", r.id, err)
	}
	if d.Checkpoint == nil {
		return d, nil
	}
	if err = r.checkpoint(s, d.Checkpoint); err != nil {
		return d, fmt.Errorf("checkpoint of decision %s: %w", r.id, err)
	}
	return d, nil
}

// checkpoint reads what is kept apart of a checkpoint.
func (r *decisionRow) checkpoint(s sealing, cp *decant.Checkpoint) error {
	at := func(column string) seal.Place { return checkpointPlace(r.Key, column, r.id, r.number.Int64) }
	if err := s.opened(&cp.Summary, r.summary, at("checkpoints.summary_content")); err != nil {
		return err
	}
	facts, err := s.open(r.facts, at("checkpoints.key_facts"))
	if err != nil {
		return err
	}
	return form.Unmarshal(facts, &cp.Facts)
}
