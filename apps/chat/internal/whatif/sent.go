package whatif

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// Sent says what of the conversation before a turn the model was sent for it.
type Sent struct {
	Known   bool     `json:"known"`            // it is known what was sent; else the rest is zero
	Facts   int      `json:"facts"`            // of the conversation
	Held    int      `json:"held"`             // of these, in what was sent
	Missing []string `json:"missing,omitzero"` // exact strings that either answer or its calls use, which the conversation has and what was sent has not
}

// texts are the strings of requests.
type texts []string

// textsOf returns all strings of a request that are values, decoded.
func textsOf(body []byte) (out texts) {
	for d := jsontext.NewDecoder(bytes.NewReader(body), lenient); ; {
		t, err := d.ReadToken()
		if err != nil {
			return out // at its end, or where it is no JSON
		}
		kind, n := d.StackIndex(d.StackDepth())
		if t.Kind() == jsontext.KindString && !(kind == jsontext.KindBeginObject && n%2 == 1) {
			out = append(out, t.String())
		}
	}
}

// has reports whether a text stands in one of the requests.
func (ts texts) has(s string) bool {
	return slices.ContainsFunc(ts, func(t string) bool { return strings.Contains(t, s) })
}

// sentFor returns what was sent for the answers among the messages of a session from first to end, and the model that gave them; nil where
// nobody knows.
func sentFor(ctx context.Context, src Source, o agent.Options, s *agent.Session, first, end int) (out texts, model string, err error) {
	if err := o.Engine.Flush(ctx); err != nil {
		return nil, "", err
	}
	answers := map[decant.Hash][]int{} // after how many messages each was given
	for n, m := range s.Messages()[first:end] {
		if content, ok := bytes.CutPrefix(m, []byte(`{"role":"assistant","content":`)); ok {
			h := decant.HashBytes(content[:len(content)-1])
			answers[h] = append(answers[h], first+n)
		}
	}
	found, err := src.Conversations(ctx, store.Filter{Tenant: o.Tenant, Session: s.Root()})
	for i := 0; i < len(found) && err == nil; i++ {
		var rs []store.Request
		if rs, err = src.Requests(ctx, found[i].Key); err != nil {
			break
		}
		versions := map[int64][]store.Request{}
		for _, r := range rs {
			if answers[r.Answer] != nil {
				versions[r.Version] = append(versions[r.Version], r)
			}
		}
		for _, rs := range versions {
			var more texts
			if more, err = viewOf(ctx, src, found[i].Key, rs, answers); err != nil {
				break
			}
			if more != nil {
				out, model = append(out, more...), rs[0].Model
			}
		}
	}
	return out, model, err
}

// viewOf returns the texts of what was sent for stored requests of one version, those that were answered where the answers stand: others may
// have had the same answer.
func viewOf(ctx context.Context, src Source, k store.Key, rs []store.Request, answers map[decant.Hash][]int) (texts, error) {
	s, err := src.Load(ctx, k, rs[0].Version)
	if err != nil {
		return nil, fmt.Errorf("read what was sent: %w", err)
	}
	var end decant.Ref
	var of *store.Request
	for i := range rs {
		r := &rs[i]
		if r.Length < 1 || r.Length > len(s.Chain) {
			continue
		}
		if last := s.Chain[r.Length-1].Ref; last.After(end) && slices.Contains(answers[r.Answer], last.Message) {
			end, of = last, r
		}
	}
	if of == nil {
		return nil, nil
	}
	t, err := archive.ReadRequest(ctx, src, k, of)
	if err != nil {
		return nil, fmt.Errorf("read what was sent: %w", err)
	}
	view, err := t.View()
	if err != nil {
		return nil, fmt.Errorf("read what was sent: %w", err)
	}
	return allOf(view), nil
}

// allOf returns the texts of a view.
func allOf(view *decant.Conversation) (out texts) {
	for i := range view.Fixed.System {
		out = append(out, view.Fixed.System[i].Text())
	}
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			if b := &view.Messages[i].Blocks[k]; b.Kind == decant.KindUse {
				out = append(out, textsOf([]byte(b.Text()))...)
			} else {
				out = append(out, b.Text())
			}
		}
	}
	return out
}

// compare fills in what either arm was not sent. before is what was said before the turn; then what the model did in both arms.
func compare(ctx context.Context, c *Comparison, before []stdjson.RawMessage, did [2][]stdjson.RawMessage, sent [2]texts) {
	said, err := parsed(before)
	if err != nil || len(said) == 0 {
		c.Was.Sent.Known, c.Would.Sent.Known = sent[0] != nil, true
		return
	}
	var all texts
	for i := range said {
		for k := range said[i].Blocks {
			all = append(all, said[i].Blocks[k].Text())
		}
	}
	var used []string
	for _, messages := range did {
		if ms, err := parsed(messages); err == nil {
			used = append(used, fact.Used(ctx, ms)...)
		}
	}
	facts := fact.Extract(ctx, said)
	for i, arm := range []*Arm{&c.Was, &c.Would} {
		if sent[i] == nil {
			continue
		}
		arm.Sent = Sent{Known: true, Facts: len(facts), Held: len(fact.Check(ctx, facts, strings.Join(sent[i], "\n")).Kept)}
		for _, s := range used {
			if all.has(s) && !sent[i].has(s) && !slices.Contains(arm.Sent.Missing, s) {
				arm.Sent.Missing = append(arm.Sent.Missing, s)
			}
		}
	}
}

// parsed returns messages of a session as those of a conversation.
func parsed(ms []stdjson.RawMessage) ([]decant.Message, error) {
	if len(ms) == 0 {
		return nil, nil
	}
	src := []byte(`{"messages":[`)
	for i, m := range ms {
		if i > 0 {
			src = append(src, ',')
		}
		src = append(src, m...)
	}
	doc, err := wire.ParseAs(wire.Anthropic, append(src, `]}`...))
	if err != nil {
		return nil, err
	}
	return doc.Conversation.Messages, nil
}
