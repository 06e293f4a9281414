package triage_test

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/testing/sandbox"
)

// says is a model that says one text after the other, the last one for ever.
type says []string

func (m says) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: m[min(p.Answers(), len(m)-1)]}}}, nil
}

// What an investigation answers is one object of a schema that the model is given. What does not fit is sent back once with what is wrong; a model that never gives one
// leaves an error that is inconclusive and says why, and the run goes on.
func TestTheAnswerHasASchema(t *testing.T) {
	const fits = `{"state": "inconclusive", "cause": "the host resets connections", "confidence": "low", "evidence": []}`
	for _, c := range []struct {
		name   string
		m      says
		cause  string
		fault  string // in Finding.Error
		back   string // in what the model is told of its first answer
		asked  int
		agreed investigate.Confidence
	}{
		{"at once", says{fits}, "the host resets connections", "", "", 1, investigate.Low},
		{"in a fence, with words around it", says{"So:\n```json\n" + fits + "\n```\nThat is all."}, "the host resets connections", "", "", 1, investigate.Low},
		{"the second time", says{"I think it is the host.", fits}, "the host resets connections", "", "Your answer is not what was asked for", 2, investigate.Low},
		{"without its evidence", says{`{"state": "inconclusive", "cause": "x", "confidence": "low"}`, fits}, "the host resets connections", "", "missing: evidence", 2, investigate.Low},
		{"with a member that nobody knows", says{strings.Replace(fits, "{", `{"mood": "good", `, 1), fits}, "the host resets connections", "", "mood", 2, investigate.Low},
		{"a cause without evidence", says{strings.NewReplacer("inconclusive", "root_cause", "low", "high").Replace(fits)}, "the host resets connections", "", "", 1, investigate.Low},
		{"never", says{"I think it is the host."}, "", "not in the form that was asked for", "Your answer is not what was asked for", 2, investigate.Low},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.m)
			w.commit("v1", map[string]string{"shop/stock.py": stock})
			o := w.options()
			r, err := triage.Start(t.Context(), o, w.plan(o, "", "v1", cartCases()[2]))
			if err == nil {
				err = r.Work(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			f := r.Report().Errors[0].Finding
			if f == nil || f.Cause != c.cause || !strings.Contains(f.Error, c.fault) || (f.Error == "") != (c.fault == "") || f.State != investigate.Inconclusive || f.Confidence != c.agreed {
				t.Errorf("%+v", f)
			}
			sent := w.server.Log.Entries()
			if len(sent) != c.asked || !strings.Contains(string(sent[0].Body), `\"enum\":[\"root_cause\",\"inconclusive\"]`) || !strings.Contains(string(sent[0].Body), `\"required\":[\"state\",\"cause\",\"confidence\",\"evidence\"]`) {
				t.Errorf("%d requests; the first: %.3000s", len(sent), sent[0].Body)
			}
			if c.back != "" && !strings.Contains(string(sent[1].Body), c.back) {
				t.Errorf("the second request does not say %q: %.3000s", c.back, sent[1].Body)
			}
		})
	}
}
