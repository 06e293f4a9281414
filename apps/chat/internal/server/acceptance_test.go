package chatserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// The configuration of the agent whose session is judged. Another model than its own writes its summaries.
const (
	acceptWindow, acceptReserve, acceptFlush = 40_000, 8_000, 4_000
	acceptConfig                             = `{"context_window":40000,"reserve_tokens":8000,"flush_threshold":4000,"keep_recent_turns":5,"prune_keep_last_assistants":2,` +
		`"prune_soft_trim_chars":4000,"compaction_model":"claude-haiku-4-5","reduce":{"clear":{"after":4,"text":"[Tool result cleared]"}}}`
)

// An acceptance is one session, lived over the API until it was compacted, with what there is to judge it by: what was said and shown, what the
// model was sent, and what the service tells.
type acceptance struct {
	*world
	id       string
	said     map[string]bool // by the user
	answers  []string        // shown to the user, oldest first
	sizes    []int           // told with each answer
	pours    []*agent.Pour
	context  filling
	requests []accepted
}

// An accepted is a request that the sandbox has answered.
type accepted struct {
	sandbox.Entry
	Model    string
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools []struct{ Name string }
}

// last returns the last message of a request, as it was sent.
func (r *accepted) last() string {
	return string(r.Entry.Body[strings.LastIndex(string(r.Entry.Body), `{"role":`):])
}

// flush reports whether the request is the turn before a pour that nobody sees.
func (r *accepted) flush() bool { return strings.Contains(r.last(), flush.ToolPrompt[:60]) }

// accept lives a session. Each turn says something long and reads mail.
func accept(t *testing.T) *acceptance {
	var n atomic.Int32
	mail := agent.Tool{Name: "mail", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		i := n.Add(1)
		return agent.Result{Text: fmt.Sprintf("HEAD-%d-", i) + strings.Repeat("the invoice is paid ", 300) + fmt.Sprintf("-TAIL-%d", i)}, nil
	}}
	clerk := sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Model == "claude-haiku-4-5" {
			a, err := sandbox.Summarizer{}.Answer(context.Background(), p)
			if err != nil {
				return says(err.Error())
			}
			return a
		}
		if p.Last(decant.RoleUser) != "" && strings.TrimSpace(p.Last(decant.RoleUser)) == flush.ToolPrompt {
			return saving(p)
		}
		if m := p.Messages[len(p.Messages)-1]; m.Blocks[0].Kind == decant.KindResult {
			return says(fmt.Sprintf("Answer %d: noted.", p.Answers()))
		}
		return uses(fmt.Sprint("toolu_", len(p.Messages), "_", n.Load()), "mail", `{}`)
	})
	a := &acceptance{world: newWorld(t, clerk, func(w *world) { w.tools = []agent.Tool{mail} }), said: map[string]bool{}}
	get[map[string]any](a.world, 201, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"clerk","model":"claude-sonnet-4-5","preset":"chat","tools":["mail","save_memory"],"config":` + acceptConfig + `}`})
	a.id = get[summary](a.world, 201, httpCall{method: "POST", path: "/v1/sessions", body: object(map[string]any{"agent": "clerk"})}).ID
	for turn := 1; turn <= 40 && a.context.Cycle == 0; turn++ {
		a.turn(fmt.Sprintf("Turn %d: I prefer brew-17 for drinks. ", turn) + strings.Repeat(fmt.Sprintf("On day %d the weather was fine. ", turn), 120))
	}
	a.turn("One more thing.")
	for _, e := range a.model.Log.Entries() {
		r := accepted{Entry: e}
		if json.Unmarshal(e.Body, &r) == nil && e.Path == "/v1/messages" {
			a.requests = append(a.requests, r)
		}
	}
	return a
}

// turn says something and hears what comes of it.
func (a *acceptance) turn(text string) {
	a.said[text] = true
	events(a.TB, a.do(httpCall{method: "POST", path: "/v1/sessions/" + a.id + "/messages", body: object(map[string]string{"text": text})}), func(e arrived) bool {
		switch e.Kind {
		case string(agent.EventMessage):
			a.answers, a.sizes = append(a.answers, e.Text), append(a.sizes, e.Size)
		case string(agent.EventPour):
			a.pours = append(a.pours, e.Pour)
		}
		return true
	})
	a.context = get[filling](a.world, 200, httpCall{method: "GET", path: "/v1/sessions/" + a.id + "/context"})
}

// What a chat that remembers must do, each judged by what one session over the API has brought.
func TestAcceptance(t *testing.T) {
	a := accept(t)
	if a.context.Cycle == 0 || len(a.requests) == 0 {
		t.Fatalf("after 40 turns nothing was compacted: %d requests", len(a.requests))
	}
	a.legal()
	for _, c := range []struct {
		name string
		ok   func() bool
	}{
		{"the size of each request is estimated", a.estimated},
		{"the session's tokens are summed up", a.summed},
		{"the estimate is what the threshold is held against, which is the window less the reserve", a.poured},
		{"older results are trimmed, after as many turns as the agent's configuration says", a.trimmed},
		{"the oldest results are cleared", a.cleared},
		{"what user and assistant said is never changed", a.verbatim},
		{"the flush comes its threshold before the pour", a.flushedAhead},
		{"it is a message of the user, answered with save_memory, by the session's own model", a.flushed},
		{"nobody sees it", a.silent},
		{"it comes once in a cycle", a.once},
		{"the summary is another call, of the cheaper model", a.summarised},
		{"summary and recent messages replace the history", a.replaced},
		{"the last five turns stay as they were", a.recent},
		{"the summary is kept", a.kept},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.ok() {
				t.Error("it is not so")
			}
		})
	}
}

// own returns the requests of the session itself.
func (a *acceptance) own() (out []accepted) {
	for _, r := range a.requests {
		if r.Model == "claude-sonnet-4-5" && !r.flush() {
			out = append(out, r)
		}
	}
	return out
}

// flushes returns the turns that nobody sees.
func (a *acceptance) flushes() (out []accepted) {
	for _, r := range a.requests {
		if r.flush() && r.Model != "claude-haiku-4-5" {
			out = append(out, r)
		}
	}
	return out
}

// newest returns the newest request of the session.
func (a *acceptance) newest() string {
	own := a.own()
	return string(own[len(own)-1].Body)
}

// estimated holds the estimates against what the provider has counted. The first ones know nothing of its tokenizer.
func (a *acceptance) estimated() bool {
	own := a.own()
	for i, r := range own {
		if off := float64(a.sizes[i]) / float64(r.Prompt); off < 0.6 || off > 1.25 || i > 3 && off < 0.8 {
			a.Logf("request %d was estimated at %d tokens, and had %d", i, a.sizes[i], r.Prompt)
			return false
		}
	}
	return len(own) == len(a.sizes)
}

func (a *acceptance) summed() bool {
	used := 0
	for _, r := range a.own() {
		used += r.Usage.Context()
	}
	s := get[summary](a.world, 200, httpCall{method: "GET", path: "/v1/sessions/" + a.id})
	return s.Spent.Tokens == used
}

func (a *acceptance) poured() bool {
	for _, p := range a.pours {
		if p.Before <= acceptWindow-acceptReserve || p.Before > acceptWindow {
			a.Logf("a pour at %d tokens", p.Before)
			return false
		}
	}
	for i, n := range a.sizes {
		if n > acceptWindow-acceptReserve {
			a.Logf("request %d was sent with %d tokens", i, n)
			return false
		}
	}
	return len(a.pours) > 0
}

// A trimmed result has 1,500 characters of its beginning and of its end.
func (a *acceptance) trimmed() bool {
	for _, r := range a.own() {
		_, cut, ok := strings.Cut(string(r.Body), `"HEAD-`)
		for ; ok; _, cut, ok = strings.Cut(cut, `"HEAD-`) {
			if end := strings.IndexByte(cut, '"'); end > 0 && len(`HEAD-`)+end == 3003 && strings.Contains(cut[:end], "...") && strings.Contains(cut[:end], "-TAIL-") {
				return true
			}
		}
	}
	return false
}

func (a *acceptance) cleared() bool {
	for _, r := range a.own() {
		if strings.Contains(string(r.Body), `"[Tool result cleared]"`) {
			return true
		}
	}
	return false
}

// verbatim holds the texts of all requests against what was said, but for records, and against what was shown.
func (a *acceptance) verbatim() bool {
	shown := map[string]bool{}
	for _, text := range a.answers {
		shown[text] = true
	}
	for _, r := range a.own() {
		for _, m := range r.Messages {
			var blocks []struct{ Type, Text string }
			if json.Unmarshal(m.Content, &blocks) != nil {
				return false
			}
			for _, b := range blocks {
				if b.Type == "text" && !a.said[b.Text] && !shown[b.Text] && !strings.Contains(b.Text, "[Session compacted.") {
					a.Logf("%s says %.200q", m.Role, b.Text)
					return false
				}
			}
		}
	}
	return true
}

func (a *acceptance) flushedAhead() bool {
	for i, r := range a.flushes() {
		if line := acceptWindow - acceptReserve - acceptFlush; r.Prompt < line*9/10 || r.Prompt > acceptWindow {
			a.Logf("flush %d at %d tokens", i, r.Prompt)
			return false
		}
	}
	return len(a.flushes()) > 0
}

func (a *acceptance) flushed() bool {
	for _, r := range a.flushes() {
		tools := map[string]bool{}
		for _, tool := range r.Tools {
			tools[tool.Name] = true
		}
		if r.Model != "claude-sonnet-4-5" || !tools["save_memory"] || r.Messages[len(r.Messages)-1].Role != "user" {
			return false
		}
	}
	saved := get[[]map[string]any](a.world, 200, httpCall{method: "GET", path: "/v1/memory"})
	return len(saved) > 0 && strings.Contains(saved[0]["text"].(string), "brew-17")
}

func (a *acceptance) silent() bool {
	all := string(readAll(a.TB, a.do(httpCall{method: "GET", path: "/v1/sessions/" + a.id + "/messages"})))
	for _, text := range append(a.answers, all) {
		if strings.Contains(text, "SILENT") || strings.Contains(text, "memory flush") || strings.Contains(text, "save_memory") {
			return false
		}
	}
	return true
}

func (a *acceptance) once() bool {
	return a.context.Flushes >= 1 && a.context.Flushes <= a.context.Cycle+1 && len(a.flushes()) == a.context.Flushes
}

func (a *acceptance) summarised() bool {
	for _, r := range a.requests {
		if r.Model == "claude-haiku-4-5" && strings.Contains(string(r.Body), "concise summary") {
			return true
		}
	}
	return false
}

func (a *acceptance) replaced() bool {
	own := a.own()
	sent := own[len(own)-1].Messages
	return len(sent) < a.context.Messages && strings.Contains(a.newest(), "[Session compacted. Summary of prior conversation:]") && a.sizes[len(a.sizes)-1] < acceptWindow-acceptReserve-acceptFlush
}

func (a *acceptance) recent() bool {
	body := a.newest()
	for _, text := range a.answers[len(a.answers)-6 : len(a.answers)-1] {
		if text != "" && !strings.Contains(body, text) {
			a.Logf("%q is missing", text)
			return false
		}
	}
	return true
}

func (a *acceptance) kept() bool {
	before := a.context.Checkpoints
	a.restart()
	after := get[filling](a.world, 200, httpCall{method: "GET", path: "/v1/sessions/" + a.id + "/context"})
	return len(after.Checkpoints) > 0 && after.Checkpoints[0].Record == before[0].Record
}
