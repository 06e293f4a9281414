package chatserver

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

var prefers = regexp.MustCompile(`I prefer [a-z0-9-]+ for (\w+)`)

// A secretary is a model that knows what it is sent and nothing else (sandbox.Reader). When it is told to search the mail it asks for it in twelve calls;
// in the turn before a pour it saves the newest preference about each thing that it sees.
func secretary(p *sandbox.Prompt) sandbox.Answer {
	switch asked := strings.TrimSpace(p.Last(decant.RoleUser)); {
	case asked == flush.ToolPrompt:
		return saving(p)
	case strings.HasPrefix(last(p), "Search the mail"):
		var out sandbox.Answer
		for i := range 12 {
			out.Blocks = append(out.Blocks, sandbox.Block{Kind: decant.KindUse, ID: fmt.Sprintf("toolu_%d_%d", len(p.Messages), i), Name: "mail", Input: stdjson.RawMessage(`{}`)})
		}
		return out
	}
	noted := sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says("Noted.") })
	a, err := sandbox.Reader{Else: noted}.Answer(context.Background(), p)
	if err != nil {
		return says(err.Error())
	}
	return a
}

// saving saves what the user prefers, by the newest of his words about each thing.
func saving(p *sandbox.Prompt) sandbox.Answer {
	newest, about := map[string]string{}, []string{}
	for _, m := range p.Messages {
		for _, b := range m.Blocks {
			for _, found := range prefers.FindAllStringSubmatch(b.Text, -1) {
				if newest[found[1]] == "" {
					about = append(about, found[1])
				}
				newest[found[1]] = found[0]
			}
		}
	}
	out := says("SILENT")
	for _, thing := range about {
		out.Blocks = append(out.Blocks, sandbox.Block{Kind: decant.KindUse, Name: "save_memory", Input: stdjson.RawMessage(object(map[string]string{"content": "The user said: " + newest[thing]}))})
	}
	return out
}

// Months as a person lives them, through the API: many turns over two clients, a search of the mail of 120,000 tokens in turn 3, a
// restart, pours that nobody notices. Then a new session, after the old one was deleted, knows the preference that was corrected,
// beside others like it. Where sessions are not told what is remembered, it does not.
func TestMonthsOfChat(t *testing.T) {
	for _, recall := range []bool{true, false} {
		t.Run(fmt.Sprint("recall ", recall), func(t *testing.T) { months(t, recall) })
	}
}

func months(t *testing.T, recall bool) {
	share := testkit.Depth(8, 1) // of the window, and of what is said and read
	var n atomic.Int32
	mail := agent.Tool{Name: "mail", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		i := n.Add(1)
		return agent.Result{Text: strings.Repeat(fmt.Sprintf("mail %d: the invoice %d is paid, thank you\n", i, 4000+i), 900/share)}, nil
	}}
	w := newWorld(t, sandboxtest.Model(secretary), func(w *world) { w.recall, w.tools = recall, []agent.Tool{mail} })
	value := func() string { return fmt.Sprintf("brew-%x", rand.Uint32()) }
	wrong, right, decoy := value(), value(), value()
	get[any](w, 201, httpCall{method: "POST", path: "/v1/agents", body: fmt.Sprintf(
		`{"name":"secretary","model":"claude-sonnet-4-5","tools":["mail","save_memory","recall"],"config":{"context_window":%d}}`, 200_000/share)})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", body: `{"agent":"secretary"}`}).ID
	turns := testkit.Depth(12, 60)
	for turn := 1; turn <= turns; turn++ {
		text := fmt.Sprintf("On day %d nothing much happened. ", turn)
		switch turn {
		case 1:
			text = "I prefer " + wrong + " for drinks."
		case 2:
			text = "I was wrong: I prefer " + right + " for drinks. And I prefer " + decoy + " for guests."
		case 3:
			text = "Search the mail."
		case turns / 2:
			w.restart()
		default:
			text = strings.Repeat(text, 360*60/turns/share) // as much in all
		}
		if turn%2 == 0 {
			if o := w.say(id, text); o.Stop != agent.StopAnswered || o.Error != "" {
				t.Fatalf("turn %d: %+v", turn, o)
			}
			continue
		}
		events(t, w.do(httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: object(map[string]string{"text": text})}), func(e arrived) bool {
			if strings.Contains(e.Text, "SILENT") || e.Call != nil && e.Call.Tool == "save_memory" {
				t.Errorf("turn %d shows the turn before the pour: %+v", turn, e)
			}
			if e.Outcome != nil && e.Outcome.Stop != agent.StopAnswered {
				t.Errorf("turn %d: %+v", turn, e.Outcome)
			}
			return true
		})
	}
	c := get[filling](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/context"})
	if c.Cycle == 0 || c.Flushes == 0 || c.Messages < 2*turns {
		t.Errorf("context after %d turns: %+v", turns, c)
	}
	if o := w.say(id, "What do I prefer for drinks?"); !strings.Contains(o.Text, right) {
		t.Errorf("the old session says %q, want %s", o.Text, right)
	}
	get[any](w, 204, httpCall{method: "DELETE", path: "/v1/sessions/" + id})
	testkit.Eventually(t, "the old session is not stored", func() bool { return len(stored(w)) == 0 })
	remembered := get[[]map[string]any](w, 200, httpCall{method: "GET", path: "/v1/memory"})
	if len(remembered) != 2 {
		t.Errorf("remembered: %v, want two things", remembered)
	}
	if o := w.say(w.session(), "What do I prefer for drinks?"); strings.Contains(o.Text, right) != recall || strings.Contains(o.Text, wrong) {
		t.Errorf("a new session says %q; %s is right, and told: %v", o.Text, right, recall)
	}
	for _, m := range remembered {
		get[any](w, 204, httpCall{method: "DELETE", path: "/v1/memory/" + m["id"].(string)})
	}
	if o := w.say(w.session(), "What do I prefer for drinks?"); strings.Contains(o.Text, right) {
		t.Errorf("what was forgotten is known: %q", o.Text)
	}
	w.legal()
}
