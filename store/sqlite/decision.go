package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
)

// A record is a decision as it is stored. The texts that go into views are kept apart from the
// JSON, byte for byte: JSON cannot hold every byte.
type record struct {
	*decant.Decision
	rest  []byte // JSON of the decision without its texts
	facts []byte // JSON of the checkpoint's key facts
}

func newRecord(d *decant.Decision) (r record, err error) {
	r.Decision = d
	rest := *d
	rest.Text = ""
	if cp := d.Checkpoint; cp != nil {
		c := *cp
		c.Summary, c.Facts = "", nil
		rest.Checkpoint = &c
		if r.facts, err = marshal(cp.Facts); err != nil {
			return r, fmt.Errorf("encode the facts of decision %s: %w", d.ID, err)
		}
	}
	if r.rest, err = marshal(rest); err != nil {
		return r, fmt.Errorf("encode decision %s: %w", d.ID, err)
	}
	return r, nil
}

func marshal(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }

func unmarshal(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true))
}

// decide appends the commit's decisions.
func (c *commit) decide(t *tx) error {
	for i := range c.records {
		r := &c.records[i]
		if err := c.refer(t, r.Target.Hash); err != nil {
			return fmt.Errorf("original of decision %s: %w", r.ID, err)
		}
		c.head.decisions++
		if err := t.exec(`INSERT INTO decisions (tenant, conversation, seq, version, id, kind, target, revokes, created, text, record)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Tenant, c.ID, c.head.decisions, c.head.version, r.ID, string(r.Kind), bytes(r.Target.Hash), r.Revokes,
			micros(r.Created), []byte(r.Text), r.rest); err != nil {
			return fmt.Errorf("decision %s: %w", r.ID, err)
		}
		if err := c.checkpoint(t, r); err != nil {
			return fmt.Errorf("checkpoint of decision %s: %w", r.ID, err)
		}
	}
	return nil
}

func (c *commit) checkpoint(t *tx, r *record) error {
	cp := r.Checkpoint
	if cp == nil {
		return nil
	}
	return t.exec(`INSERT INTO checkpoints (tenant, conversation, checkpoint_num, decision, from_message, to_message, messages_compressed,
		summary_content, key_facts, original_tokens, compressed_tokens, compression_ratio, summary_cost_usd, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Tenant, c.ID, cp.Number, r.ID, cp.From, cp.To, cp.Messages,
		[]byte(cp.Summary), string(r.facts), cp.Original, cp.Compressed, cp.Ratio(), cp.CostUSD, micros(r.Created))
}

// decisionColumns are the columns that scanDecision reads, of decisions d left-joined to their
// checkpoints c.
const decisionColumns = "d.text, d.record, c.summary_content, c.key_facts"

const decisionTables = `decisions d LEFT JOIN checkpoints c
	ON c.tenant = d.tenant AND c.conversation = d.conversation AND c.decision = d.id AND d.kind = 'checkpoint'`

// scanDecision reads a decision, and the further columns that follow its own into more.
func scanDecision(rows *sql.Rows, more ...any) (d decant.Decision, err error) {
	var text, rest, summary []byte
	var facts sql.NullString
	if err = rows.Scan(append([]any{&text, &rest, &summary, &facts}, more...)...); err != nil {
		return d, err
	}
	if err = unmarshal(rest, &d); err != nil {
		return d, fmt.Errorf("decode decision: %w", err)
	}
	d.Text = string(text)
	if cp := d.Checkpoint; cp != nil {
		cp.Summary = string(summary)
		err = unmarshal([]byte(facts.String), &cp.Facts)
	}
	return d, err
}
