package chat

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// What would ask is denied where nobody can be asked, and the result names it.
func TestUnattended(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("write", `{"text":"x"}`)
		}
		last := p.Messages[len(p.Messages)-1].Blocks
		return text(last[0].Text)
	}))
	var wrote []string
	c := w.chat(Options{Tools: []agent.Tool{writes(&wrote)}, Unattended: true})
	out, r, err := once(t, c, Question{Text: "Write.", Format: FormatText})
	if err != nil || len(wrote) > 0 || !strings.Contains(out, "nobody can be asked") || len(r.Denied) != 1 || r.Denied[0].Tool != "write" {
		t.Errorf("%q, %+v, %v; wrote %q", out, r, err, wrote)
	}
}

func TestFormats(t *testing.T) {
	model := sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return text("It is Friday.") })
	w := newWorld(t, model)
	out, _, err := once(t, w.chat(Options{}), Question{Text: "When?", Format: FormatText})
	if err != nil || out != "It is Friday.\n" {
		t.Errorf("text: %q, %v", out, err)
	}
	out, _, err = once(t, w.chat(Options{}), Question{Text: "When?", Format: "json"})
	var r Result
	if err = errors.Join(err, json.Unmarshal([]byte(out), &r)); err != nil || r.Answer != "It is Friday." || r.Stop != agent.StopAnswered || r.Turns != 1 || r.USD == 0 || r.Session == "" {
		t.Errorf("json: %s, %v", out, err)
	}
	out, _, err = once(t, w.chat(Options{}), Question{Text: "When?", Format: "stream-json"})
	var kinds []string
	for line := range strings.Lines(out) {
		var e struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if n := len(kinds); n == 0 || kinds[n-1] != e.Kind {
			kinds = append(kinds, e.Kind)
		}
	}
	if got := strings.Join(kinds, " "); err != nil || got != "start user text message done result" {
		t.Errorf("stream: %s, %v", got, err)
	}
}

// An answer that does not have the form is asked for once more.
func TestSchema(t *testing.T) {
	schema, err := ParseSchema([]byte(`{"type":"object","properties":{"day":{"enum":["Friday","Monday"]}},"required":["day"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		said []string
		want string
	}{
		"at once":    {[]string{`{"day":"Friday"}`}, `{"day":"Friday"}`},
		"in a fence": {[]string{"Of 3 days [sic]:\n```json\n{\"day\": \"Friday\"}\n```"}, `{"day": "Friday"}`},
		"the second": {[]string{`{"day":"Someday"}`, `{"day":"Monday"}`}, `{"day":"Monday"}`},
		"never":      {[]string{"Friday", `{"when":"Friday"}`, `{"day":"Friday"}`}, ""},
	} {
		w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return text(tc.said[p.Answers()]) }))
		out, r, err := once(t, w.chat(Options{}), Question{Text: "When?", Schema: schema, Format: FormatText})
		if tc.want == "" {
			if !errors.Is(err, ErrForm) || r.Value != nil {
				t.Errorf("%s: %q, %v", name, out, err)
			}
			continue
		}
		if err != nil || out != tc.want+"\n" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	for _, bad := range []string{`{"type":5}`, `[`, `{"$ref":"https://example.com/x.json"}`} {
		if _, err := ParseSchema([]byte(bad)); err == nil {
			t.Errorf("%s is taken for a schema", bad)
		}
	}
}

// A limit ends in an answer, and all runs of a session share what it may cost.
func TestLimits(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Choice == "none" {
			return text("That is all.")
		}
		return use("read", `{"path":"a.txt"}`)
	}))
	w.file("a.txt", "a")
	c := w.chat(Options{Tools: []agent.Tool{reads(w.dir)}, Turns: 3})
	_, r, err := once(t, c, Question{Text: "Go.", Format: "json"})
	if err != nil || r.Stop != agent.StopTurns || !r.Forced || r.Answer != "That is all." || r.Turns != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	c = w.chat(Options{Tools: []agent.Tool{reads(w.dir)}, USD: 0.1})
	_, r, err = once(t, c, Question{Text: "Go.", Format: "json"})
	if err != nil || r.Stop != agent.StopBudget || !r.Forced || r.USD > 0.1 || r.USD < 0.01 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, r, err = once(t, c, Question{Text: "And now?", Format: "json"}); r.USD > 0.1 {
		t.Errorf("the session costs $%.4f: %+v, %v", r.USD, r, err)
	}
}
