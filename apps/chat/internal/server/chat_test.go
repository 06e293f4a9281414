package chatserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// A chat through the API: agents with short keys, sessions, messages, what is stored.
func TestAgentsAndSessions(t *testing.T) {
	w := newWorld(t, echo)
	conf := `{"name":"mail","model":"claude-sonnet-4-5","system":"You sort mail.","config":{"context_window":150000,"prune_keep_last_assistants":5,"keep_recent_turns":4}}`
	get[Agent](w, 201, httpCall{method: "POST", path: "/agents", body: conf})
	get[Agent](w, 200, httpCall{method: "POST", path: "/v1/agents", body: strings.Replace(conf, "150000", "160000", 1)})
	preset := filepath.Join(t.TempDir(), "mine.yaml") // a file of the machine is none of a user's
	if err := os.WriteFile(preset, []byte("base: chat\nabout: secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, body := range map[string]string{
		"no such key": `{"name":"a","model":"m","config":{"context_windows":1}}`, "name": `{"name":"A b","model":"m"}`, "model": `{"name":"a"}`,
		"tools": `{"name":"a","model":"m","tools":["shell"]}`, "preset": `{"name":"a","model":"m","preset":"` + preset + `"}`, "base": `{"name":"a","model":"m","config":{"base":"` + preset + `"}}`,
		"twice": `{"name":"a","model":"m","config":{"context_window":1,"trigger":{"window":2}}}`,
		"group": `{"name":"a","model":"m","config":{"context_window":1,"trigger":3}}`, "json": `{`, "list": `{"name":"a","model":"m","config":[]}`,
	} {
		if e := get[map[string]map[string]string](w, 400, httpCall{method: "POST", path: "/v1/agents", body: body}); e["error"]["message"] == "" || strings.Contains(e["error"]["message"], "secret") {
			t.Errorf("%s: %v", what, e)
		}
	}
	all := get[[]Agent](w, 200, httpCall{method: "GET", path: "/v1/agents"})
	if len(all) != 2 || all[0].Name != "default" || all[1].Name != "mail" || !strings.Contains(string(all[1].Config), "160000") {
		t.Errorf("agents: %+v", all)
	}
	s := get[summary](w, 201, httpCall{method: "POST", path: "/sessions", body: `{"agent":"mail","title":"Inbox"}`})
	if s.Agent != "mail" || s.Title != "Inbox" || s.Turns != 0 {
		t.Errorf("session: %+v", s)
	}
	if o := w.say(s.ID, "hello"); o.Text != "1: hello" || o.Stop != agent.StopAnswered || o.Spent.Tokens == 0 {
		t.Errorf("outcome: %+v", o)
	}
	w.restart()
	if o := w.say(s.ID, "again"); o.Text != "3: again" {
		t.Errorf("outcome after a restart: %+v", o)
	}
	ms := get[[]message](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + s.ID + "/messages"})
	if len(ms) != 4 || ms[3].Text != "3: again" || ms[3].Index != 3 || ms[3].Role != "assistant" {
		t.Errorf("messages: %+v", ms)
	}
	if sent := w.sent(); !strings.Contains(sent, "You sort mail.") {
		t.Errorf("sent is %s", sent)
	}
	get[any](w, 204, httpCall{method: "DELETE", path: "/v1/agents/mail"})
	get[any](w, 409, httpCall{method: "POST", path: "/v1/sessions/" + s.ID + "/messages", body: `{"text":"still there?"}`})
	get[[]message](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + s.ID + "/messages"})
	get[any](w, 404, httpCall{method: "DELETE", path: "/v1/agents/mail"})
	get[any](w, 400, httpCall{method: "POST", path: "/v1/sessions", body: `{"agent":"mail"}`})
	get[any](w, 404, httpCall{method: "GET", path: "/v1/sessions/nowhere"})
	get[any](w, 404, httpCall{method: "GET", path: "/v1/sessions/agent.mail/messages"})
	w.legal()
}

// heardBy puts together what a listener shows by the events that it gets.
type heardBy struct {
	messages []string
	partial  string
	lastID   string
}

func (h *heardBy) take(e arrived) {
	h.lastID = e.id
	switch e.Kind {
	case "snapshot":
		*h = heardBy{lastID: e.id}
		for _, m := range e.Messages {
			h.messages = append(h.messages, m.Text)
		}
	case "user":
		h.messages = append(h.messages, e.Text)
	case "text":
		h.partial += e.Text
	case "message":
		if h.partial != "" && !strings.HasSuffix(e.Text, h.partial) {
			h.messages = append(h.messages, "pieces that are not of the whole: "+h.partial)
		}
		h.messages, h.partial = append(h.messages, e.Text), ""
	}
}

// However often a listener is cut off, and whether it comes back with the id of its last event or without, it shows each word once, also
// beside others and after a restart.
func TestNoWordIsLostOrDoubled(t *testing.T) {
	long := strings.Repeat("many words, one after the other; ", 40)
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(fmt.Sprint(len(p.Messages), " ", long)) }))
	id := w.session()
	listen := func(lastID string) *http.Response {
		h := map[string]string{}
		if lastID != "" {
			h["Last-Event-ID"] = lastID
		}
		return w.do(httpCall{method: "GET", path: "/v1/sessions/" + id + "/events", header: h})
	}
	var all sync.WaitGroup
	heard := make([]heardBy, 4)
	const turns = 3
	for i := range heard {
		all.Go(func() {
			h, n := &heard[i], 0
			whole := func() bool { return len(h.messages) >= 2*turns && h.partial == "" }
			for !whole() && !w.Failed() {
				from := h.lastID
				if i%2 == 1 && n%3 == 2 {
					from = "" // a new tab
				}
				stay := 1 + (i*7+n*5)%23 + 10*n // longer each time: who begins anew must get further than before
				n++
				events(t, listen(from), func(e arrived) bool {
					h.take(e)
					stay--
					return stay > 0 && !whole()
				})
			}
		})
	}
	for i := range turns {
		if o := w.say(id, fmt.Sprint("say ", i)); o.Stop != agent.StopAnswered {
			t.Errorf("turn %d: %+v", i, o)
		}
	}
	all.Wait()
	var want []string
	for i := range turns {
		want = append(want, fmt.Sprint("say ", i), fmt.Sprint(2*i+1, " ", long))
	}
	for i := range heard {
		if !slices.Equal(heard[i].messages, want) {
			t.Errorf("listener %d shows %q,\nwant %q", i, heard[i].messages, want)
		}
	}
	old := heard[0].lastID
	w.restart()
	var after heardBy
	events(t, listen(old), func(e arrived) bool { after.take(e); return false })
	if !slices.Equal(after.messages, want) {
		t.Errorf("after a restart a listener shows %q", after.messages)
	}
	w.legal()
}

// A run goes on when whoever began it leaves; what is said meanwhile is read by it; it can be stopped.
func TestARunOutlivesItsListener(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 10)}
	w := newWorld(t, m)
	id := w.session()
	path := "/v1/sessions/" + id
	ctx, leave := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "POST", w.http.URL+path+"/messages", strings.NewReader(`{"text":"one"}`))
	res, err := w.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	res.Body.Close()
	if s := get[summary](w, 200, httpCall{method: "GET", path: path}); !s.Running {
		t.Errorf("the run has ended with its listener: %+v", s)
	}
	key := map[string]string{"Idempotency-Key": "k"}
	for range 2 { // said again because the answer was not heard
		get[map[string]bool](w, 202, httpCall{method: "POST", path: path + "/messages", body: `{"text":"and two"}`, header: key})
	}
	get[any](w, 409, httpCall{method: "POST", path: path + "/messages", body: `{"text":"look","attachments":[{"name":"a.txt","media_type":"text/plain","data":"aGk="}]}`})
	m.let <- struct{}{}
	m.let <- struct{}{}
	testkit.Eventually(t, "the run ends", func() bool { return !get[summary](w, 200, httpCall{method: "GET", path: path}).Running })
	ms := get[[]message](w, 200, httpCall{method: "GET", path: path + "/messages"})
	if len(ms) != 4 || ms[3].Text != "3: and two" {
		t.Errorf("messages: %+v", ms)
	}
	stream := w.do(httpCall{method: "POST", path: path + "/messages", body: `{"text":"three"}`})
	get[any](w, 204, httpCall{method: "POST", path: path + "/stop"})
	var end *outcome
	events(t, stream, func(e arrived) bool { end = e.Outcome; return true })
	if end == nil || end.Stop != agent.StopCancelled {
		t.Errorf("the run that was stopped ended with %+v", end)
	}
	close(m.let) // the call that was stopped may still be there to take a single one
	if o := get[outcome](w, 200, httpCall{method: "POST", path: path + "/continue"}); o.Text != "5: three" {
		t.Errorf("going on: %+v", o)
	}
	get[any](w, 409, httpCall{method: "POST", path: path + "/continue"})
}

// What is said again with the same key is answered and not said again, also after a restart.
func TestAKeySaysOnce(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	c := httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"hi"}`, header: map[string]string{"Idempotency-Key": "one"}}
	for i := range 3 {
		if o := get[outcome](w, 200, c); o.Text != "1: hi" {
			t.Errorf("time %d: %+v", i, o)
		}
		if i == 1 {
			w.restart()
		}
	}
	c.header["Accept"] = "text/event-stream"
	var h heardBy
	res := w.do(c)
	events(t, res, func(e arrived) bool { h.take(e); return len(h.messages) < 2 })
	if !slices.Equal(h.messages, []string{"hi", "1: hi"}) {
		t.Errorf("as a stream: %q", h.messages)
	}
	c.header["Idempotency-Key"] = strings.Repeat("k", 201)
	get[any](w, 400, httpCall{method: c.method, path: c.path, body: c.body, header: map[string]string{"Idempotency-Key": c.header["Idempotency-Key"]}})
}

// ask is a tool that somebody must allow.
func ask(name string) agent.Tool {
	type args struct {
		To string `json:"to"`
	}
	t := agent.Func(name, "Sends a letter.", func(_ context.Context, _ *agent.Call, a args) (agent.Result, error) {
		return agent.Result{Text: "sent to " + a.To}, nil
	})
	t.Ask = true
	t.Preview = func(context.Context, *agent.Call) (string, error) { return "+ Dear Ann", nil }
	return t
}

// The rules of the service decide about the calls of its agents before anybody is asked, with a workspace and without. Two tools of one name are an error.
func TestRulesOfTheService(t *testing.T) {
	for _, c := range []struct {
		kind agent.VerdictKind
		want string
	}{{agent.Allow, "sent to ann"}, {agent.Deny, "the rule send denies it"}} {
		for _, agentOf := range []string{"", `,"agent":"files"`} {
			w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
				if p.Answers() == 0 {
					return uses("toolu_1", "send", `{"to":"ann"}`)
				}
				return says(last(p))
			}), func(w *world) {
				rule, err := permission.Parse("send")
				if err = errors.Join(err, w.rules.Add(c.kind, rule)); err != nil {
					t.Fatal(err)
				}
				w.tools, w.spaces = []agent.Tool{ask("send")}, Workspaces{Dir: t.TempDir()}
			})
			get[any](w, 201, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"files","model":"claude-sonnet-4-5","tools":["send"],"workspace":{"files":true}}`})
			s := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", body: `{"title":"x"` + agentOf + `}`})
			if o := w.say(s.ID, "write"); o.Stop != agent.StopAnswered || !strings.Contains(o.Text, c.want) {
				t.Errorf("%s%s: %+v", c.kind, agentOf, o)
			}
			w.close()
		}
	}
	b := &agentBook{opts: &Options{Store: newWorld(t, echo).db.Store(), Tools: func(string) ([]agent.Tool, error) { return []agent.Tool{ask("recall")}, nil }}}
	if _, err := b.tools(""); err == nil || !strings.Contains(err.Error(), "two tools have the name recall") {
		t.Errorf("a second recall: %v", err)
	}
}

// A call is allowed, denied or edited after a restart.
func TestApprovals(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"kind":"allow"}`, "sent to ann"}, {`{"kind":"deny","reason":"not now"}`, "not now"}, {`{"kind":"edit","arguments":{"to":"bob"}}`, "sent to bob"},
	} {
		w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			if p.Answers() == 0 {
				return uses("toolu_1", "send", `{"to":"ann"}`)
			}
			return says(last(p))
		}), func(w *world) { w.tools = []agent.Tool{ask("send")} })
		id := w.session()
		if o := w.say(id, "write"); o.Stop != agent.StopApproval {
			t.Fatalf("outcome: %+v", o)
		}
		w.restart()
		path := "/v1/sessions/" + id
		get[any](w, 409, httpCall{method: "POST", path: path + "/messages", body: `{"text":"hello?"}`})
		ms := get[[]message](w, 200, httpCall{method: "GET", path: path + "/messages"})
		if len(ms) != 2 || len(ms[1].Calls) != 1 || !ms[1].Calls[0].Waiting || ms[1].Calls[0].Preview != "+ Dear Ann" {
			t.Errorf("messages: %+v", ms)
		}
		for _, bad := range []string{`{"kind":"maybe"}`, `{"kind":"edit"}`, `{"kind":"edit","arguments":[]}`} {
			get[any](w, 400, httpCall{method: "POST", path: path + "/approvals/toolu_1", body: bad})
		}
		get[any](w, 409, httpCall{method: "POST", path: path + "/approvals/toolu_2", body: c.body})
		if o := get[outcome](w, 200, httpCall{method: "POST", path: path + "/approvals/toolu_1", body: c.body}); !strings.Contains(o.Text, c.want) {
			t.Errorf("%s: %+v", c.body, o)
		}
		get[any](w, 409, httpCall{method: "POST", path: path + "/approvals/toolu_1", body: c.body})
		ms = get[[]message](w, 200, httpCall{method: "GET", path: path + "/messages"})
		if got := ms[1].Calls[0]; got.Waiting || !strings.Contains(got.Result, c.want) {
			t.Errorf("the call is shown as %+v", got)
		}
		w.legal()
		w.close()
	}
}

// Regenerate, edit and branch; rename, archive, find, export and delete.
func TestASessionIsKept(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	path := "/v1/sessions/" + id
	w.say(id, "the zebra crossing")
	w.say(id, "something else")
	for _, bad := range []string{`{"message":1}`, `{"message":7}`, `{}`} {
		get[any](w, 400, httpCall{method: "POST", path: path + "/rewind", body: bad})
	}
	f := get[summary](w, 201, httpCall{method: "POST", path: path + "/fork", body: `{"message":2}`})
	whole := get[summary](w, 201, httpCall{method: "POST", path: path + "/fork"})
	if s := get[summary](w, 200, httpCall{method: "POST", path: path + "/rewind", body: `{"message":2}`}); s.Turns != 1 {
		t.Errorf("after going back: %+v", s)
	}
	for id, want := range map[string]string{id: "3: edited", f.ID: "3: edited", whole.ID: "5: edited"} {
		if o := w.say(id, "edited"); o.Text != want {
			t.Errorf("%+v, want %q", o, want)
		}
	}
	get[summary](w, 200, httpCall{method: "PATCH", path: path, body: `{"title":"Roads","archived":true}`})
	get[any](w, 400, httpCall{method: "PATCH", path: path, body: `{"title":""}`})
	get[any](w, 400, httpCall{method: "PATCH", path: path, body: object(map[string]string{"title": strings.Repeat("x", 201)})})
	ids := func(query string) (out []string) {
		for _, s := range get[[]summary](w, 200, httpCall{method: "GET", path: "/v1/sessions" + query}) {
			out = append(out, s.ID)
		}
		slices.Sort(out)
		return out
	}
	both := []string{f.ID, whole.ID}
	slices.Sort(both)
	if got := ids(""); !slices.Equal(got, both) {
		t.Errorf("not archived: %v, want %v", got, both)
	}
	if got := ids("?archived=true"); !slices.Equal(got, []string{id}) {
		t.Errorf("archived: %v", got)
	}
	if got := ids("?archived=true&q=roads"); !slices.Equal(got, []string{id}) {
		t.Errorf("found by title: %v", got)
	}
	testkit.Eventually(t, "what was said is found", func() bool { return len(ids("?q=zebra")) == 2 })
	if got := ids("?q=giraffe"); len(got) != 0 {
		t.Errorf("found by what nobody said: %v", got)
	}
	get[any](w, 400, httpCall{method: "GET", path: "/v1/sessions?limit=0"})
	get[any](w, 400, httpCall{method: "GET", path: "/v1/sessions?before=yesterday"})
	if got := get[[]message](w, 200, httpCall{method: "GET", path: path + "/export?as=json"}); len(got) != 4 {
		t.Errorf("exported: %+v", got)
	}
	res := w.do(httpCall{method: "GET", path: path + "/export?as=text"})
	if text := string(readAll(t, res)); !strings.Contains(text, "## user\n\nthe zebra crossing") {
		t.Errorf("exported: %s", text)
	}
	res.Body.Close()
	get[any](w, 400, httpCall{method: "GET", path: path + "/export?as=pdf"})
	for _, gone := range []string{id, f.ID, whole.ID} {
		get[any](w, 204, httpCall{method: "DELETE", path: "/v1/sessions/" + gone})
		get[any](w, 404, httpCall{method: "GET", path: "/v1/sessions/" + gone})
	}
	testkit.Eventually(t, "nothing of it is stored", func() bool { return len(stored(w)) == 0 })
	w.legal()
}

// What is shown beside a text reaches the model.
func TestAttachments(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	path := "/v1/sessions/" + id + "/messages"
	get[outcome](w, 200, httpCall{method: "POST", path: path, body: `{"text":"read","attachments":[{"name":"a.txt","media_type":"text/plain","data":"dGhlIHBsYW4="}]}`})
	if sent := w.sent(); !strings.Contains(sent, "the plan") {
		t.Errorf("sent is %s", sent)
	}
	ms := get[[]message](w, 200, httpCall{method: "GET", path: path})
	if len(ms) != 2 || len(ms[0].Attachments) != 1 || ms[0].Attachments[0].Name != "a.txt" || ms[0].Text != "read" {
		t.Errorf("messages: %+v", ms)
	}
	for _, bad := range []string{`{"text":"x","attachments":[{"name":"a","media_type":"text/plain","data":"%"}]}`,
		`{"text":"x","attachments":[{"name":"a","media_type":"application/zip","data":"aGk="}]}`, `{"text":" "}`, `{}`} {
		get[any](w, 400, httpCall{method: "POST", path: path, body: bad})
	}
}

// A conversation that fills its window is poured; people see it, can ask for it and take it back.
func TestContext(t *testing.T) {
	n := 0
	search := agent.Tool{Name: "search", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		n++
		return agent.Result{Text: strings.Repeat(fmt.Sprintf("mail %d about contract %d\n", n, 7000+n), 1200)}, nil
	}}
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(last(p), "look") {
			return uses(fmt.Sprintf("toolu_%d", len(p.Messages)), "search", `{}`)
		}
		return says("Found.")
	}), func(w *world) { w.tools = []agent.Tool{search} })
	get[Agent](w, 201, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"small","model":"claude-sonnet-4-5","tools":["search"],"preset":"coding-session","config":{"context_window":60000}}`})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", body: `{"agent":"small"}`}).ID
	path := "/v1/sessions/" + id
	if c := get[filling](w, 200, httpCall{method: "GET", path: path + "/context"}); c.Tokens != 0 || c.Window != 60000 {
		t.Errorf("context of an empty session: %+v", c)
	}
	get[any](w, 409, httpCall{method: "POST", path: path + "/pour"})
	poured := false
	for i := 0; i < 20 && !poured; i++ {
		events(t, w.do(httpCall{method: "POST", path: path + "/messages", body: object(map[string]string{"text": fmt.Sprint("look ", i)})}), func(e arrived) bool {
			if e.Window != 0 && e.Window != 60000 {
				t.Errorf("an event of kind %s names a window of %d tokens", e.Kind, e.Window)
			}
			poured = poured || e.Kind == "pour" && e.Pour.After < e.Pour.Before
			return true
		})
	}
	if !poured {
		t.Error("there was no pour")
	}
	c := get[filling](w, 200, httpCall{method: "GET", path: path + "/context"})
	if c.Window != 60000 || c.Cycle != 1 || len(c.Checkpoints) != 1 || c.Checkpoints[0].Record == "" || c.Sent >= c.Messages || c.Tokens == 0 {
		t.Errorf("context: %+v", c)
	}
	undone := get[filling](w, 200, httpCall{method: "POST", path: path + "/undo"})
	if !undone.Hold || len(undone.Checkpoints) != 0 || undone.Tokens <= c.Tokens {
		t.Errorf("after undo: %+v", undone)
	}
	again := get[filling](w, 200, httpCall{method: "POST", path: path + "/pour", body: `{"focus":"contracts"}`})
	if again.Tokens >= undone.Tokens {
		t.Errorf("after a pour: %+v", again)
	}
	if o := w.say(id, "and now?"); o.Stop != agent.StopAnswered {
		t.Errorf("%+v", o)
	}
	w.legal()
}

// A run that was under way when the process died goes on by itself when the service begins.
func TestInterruptedRunsGoOn(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 1)}
	w := newWorld(t, m)
	id := w.session()
	res := w.do(httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"hi"}`})
	defer res.Body.Close()
	journal, err := w.db.Store().Steps(t.Context(), keyOf(id), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.restart() // which ends the run; so what a killed process would have left is put in its place
	if err := putBack(w, id, journal); err != nil {
		t.Fatal(err)
	}
	m.let <- struct{}{}
	w.goOn()
	testkit.Eventually(t, "the run goes on", func() bool {
		ms := get[[]message](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/messages"})
		return len(ms) == 2 && ms[1].Text == "1: hi"
	})
}

// Nobody begins anything when the service ends, and it waits for what is under way.
func TestTheServiceEnds(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 1)}
	w := newWorld(t, m)
	id := w.session()
	res := w.do(httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"hi"}`})
	closed := make(chan error, 1)
	go func() { closed <- w.service.Close(t.Context()) }()
	testkit.Eventually(t, "nothing begins any more", func() bool {
		r := w.do(httpCall{method: "POST", path: "/v1/sessions/" + id + "/continue", header: map[string]string{"Accept": "application/json"}})
		defer r.Body.Close()
		return r.StatusCode == 503
	})
	m.let <- struct{}{}
	var end *outcome
	events(t, res, func(e arrived) bool { end = e.Outcome; return end == nil })
	if err := <-closed; err != nil || end == nil || end.Text != "1: hi" {
		t.Errorf("%v, %+v", err, end)
	}
}

// Sessions of other programs on the same database are not the service's: it neither shows them nor goes on with them.
func TestSessionsOfOthers(t *testing.T) {
	w := newWorld(t, echo)
	head := `{"title":"mine","model":"m","turns":1,"running":true,"root":"other","spent":{}}`
	step := `{"began":true,"root":"other","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	if err := w.db.Store().AddSteps(t.Context(), &store.Addition{Key: keyOf("other"), Kind: "session", Head: []byte(head), Steps: [][]byte{[]byte(step)}}); err != nil {
		t.Fatal(err)
	}
	w.goOn()
	if got := get[[]summary](w, 200, httpCall{method: "GET", path: "/v1/sessions"}); len(got) != 0 {
		t.Errorf("shown: %+v", got)
	}
	for _, path := range []string{"", "/messages", "/events", "/context"} {
		get[any](w, 404, httpCall{method: "GET", path: "/v1/sessions/other" + path})
	}
	if n := len(w.model.Log.Entries()); n != 0 {
		t.Errorf("%d requests were made for it", n)
	}
}
