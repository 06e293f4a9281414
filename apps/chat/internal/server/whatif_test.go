package chatserver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// kept is the answer to what is kept.
type kept struct {
	Session  summary  `json:"session"`
	Memories []string `json:"memories"`
}

// savers is a model that saves what it is told to ("save TEXT"), looks for what it is asked ("recall WORD"), and says who it is.
var savers = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
	b := p.Messages[len(p.Messages)-1].Blocks[0]
	what, ok := strings.CutPrefix(b.Text, "save ")
	switch {
	case ok && slices.Contains(p.Tools, "save_memory"):
		return uses("", "save_memory", object(map[string]string{"content": strings.ReplaceAll(what, "MODEL", p.Model)}))
	case strings.HasPrefix(b.Text, "recall ") && slices.Contains(p.Tools, "recall"):
		return uses("", "recall", object(map[string]string{"query": b.Text[7:]}))
	case b.Kind == decant.KindResult:
		return says(b.Text)
	}
	return says("I am " + p.Model + ".")
})

// texts returns what is remembered.
func (w *world) texts() (out []string) {
	w.Helper()
	for _, it := range get[[]struct {
		Text string `json:"text"`
	}](w, 200, httpCall{method: "GET", path: "/v1/memory"}) {
		out = append(out, it.Text)
	}
	slices.Sort(out)
	return out
}

// A turn is answered once more; what is not kept is none of the service's sessions, and what is kept stands for the turn, also in memory.
func TestAWhatIfOfTheService(t *testing.T) {
	w := newWorld(t, savers)
	id := w.session()
	path := "/v1/sessions/" + id
	w.say(id, "Hello.")
	w.say(id, "save It was MODEL.")
	w.say(id, "save Prices are in cents.")
	ask := func(body string) compared {
		t.Helper()
		return get[compared](w, 200, httpCall{method: "POST", path: path + "/what-if", body: body})
	}
	if c := ask(`{"message":0,"model":"claude-haiku-4-5","preset":"agent-loop"}`); c.Was.Answer != "I am claude-sonnet-4-5." || c.Would.Answer != "I am claude-haiku-4-5." ||
		c.Was.Preset != "chat" || c.Would.Preset != "agent-loop" || c.Was.Spent.USD <= 0 || c.Would.Spent.USD <= 0 || c.Text != "Hello." || !c.Was.Sent.Known {
		t.Errorf("%+v", c)
	}
	c := ask(`{"message":2,"model":"claude-haiku-4-5"}`)
	if len(c.Would.Waits) != 1 || c.Would.Waits[0].Tool != "save_memory" || !slices.Equal(w.texts(), []string{"It was claude-sonnet-4-5.", "Prices are in cents."}) {
		t.Errorf("%+v, remembered %q", c, w.texts())
	}
	list := get[[]summary](w, 200, httpCall{method: "GET", path: "/v1/sessions"})
	if len(list) != 1 || list[0].Turns != 3 {
		t.Errorf("sessions: %+v", list)
	}
	get[any](w, 404, httpCall{method: "GET", path: "/v1/sessions/" + c.Would.Session})
	js, err := w.db.Store().Journals(t.Context(), store.JournalQuery{Kind: "session"})
	if err != nil || len(js) != 2 {
		t.Errorf("%d journals are kept, want the session and the newest what-if: %v", len(js), err)
	}
	other := w.session()
	get[any](w, 404, httpCall{method: "POST", path: "/v1/sessions/" + other + "/keep", body: object(map[string]string{"session": c.Would.Session})})
	k := get[kept](w, 200, httpCall{method: "POST", path: path + "/keep", body: object(map[string]string{"session": c.Would.Session})})
	if k.Session.ID != c.Would.Session || !k.Session.Waiting || k.Session.Turns != 2 || len(k.Memories) != 2 || len(w.texts()) != 0 {
		t.Errorf("%+v, remembered %q", k, w.texts())
	}
	get[outcome](w, 200, httpCall{method: "POST", path: "/v1/sessions/" + k.Session.ID + "/approvals/" + c.Would.Waits[0].ID, body: `{"kind":"allow"}`})
	if got := w.texts(); !slices.Equal(got, []string{"It was claude-haiku-4-5."}) {
		t.Errorf("after the call was allowed: %q", got)
	}
	get[any](w, 404, httpCall{method: "POST", path: path + "/keep", body: object(map[string]string{"session": c.Would.Session})})
	for _, bad := range []string{`{"message":1}`, `{"preset":"/etc/passwd"}`, `{"memory":"maybe"}`} {
		get[any](w, 400, httpCall{method: "POST", path: path + "/what-if", body: bad})
	}
	get[any](w, 404, httpCall{method: "POST", path: "/v1/sessions/none/what-if"})
	w.legal()
}

// Without memory a new session would not know what another one has saved, though the service tells it; with it, the control arm, it does. A deleted
// session takes what was tried of it along.
func TestAWhatIfWithoutMemory(t *testing.T) {
	color := fmt.Sprintf("blue%d", rand.IntN(1_000_000))
	w := newWorld(t, sandbox.Reader{Else: savers}, func(w *world) { w.recall = true })
	first := w.session()
	w.say(first, "save The favorite color is "+color+".")
	id := w.session()
	if got := w.say(id, "What is the favorite color?"); !strings.Contains(got.Text, color) {
		t.Fatalf("with memory: %q", got.Text)
	}
	path := "/v1/sessions/" + id
	for memory, known := range map[string]bool{"on": true, "off": false} {
		c := get[compared](w, 200, httpCall{method: "POST", path: path + "/what-if", body: `{"memory":"` + memory + `"}`})
		if strings.Contains(c.Would.Answer, color) != known || c.Would.Memory != known || !strings.Contains(c.Was.Answer, color) {
			t.Errorf("memory %s: was %q, would be %q", memory, c.Was.Answer, c.Would.Answer)
		}
	}
	get[any](w, 204, httpCall{method: "DELETE", path: path})
	testkit.Eventually(t, "what was tried is removed", func() bool {
		js, err := w.db.Store().Journals(t.Context(), store.JournalQuery{Kind: "session"})
		if err != nil {
			t.Fatal(err)
		}
		found, err := w.db.Store().Conversations(t.Context(), store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return len(js) == 1 && len(found) == 1
	})
	w.legal()
}

// A turn is taken back with what was saved in it.
func TestARewindWithMemory(t *testing.T) {
	w := newWorld(t, savers)
	id := w.session()
	w.say(id, "save Prices are in cents.")
	w.say(id, "save The user prefers tabs.")
	rewind := httpCall{method: "POST", path: "/v1/sessions/" + id + "/rewind", body: `{"message":4,"memory":true}`}
	if s := get[summary](w, 200, rewind); s.Turns != 1 || !slices.Equal(w.texts(), []string{"Prices are in cents."}) {
		t.Errorf("%+v, remembered %q", s, w.texts())
	}
	rewind.body = `{"message":0}`
	if s := get[summary](w, 200, rewind); s.Turns != 0 || len(w.texts()) != 1 {
		t.Errorf("%+v, remembered %q", s, w.texts())
	}
}
