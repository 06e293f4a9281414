package chatserver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// keyOf returns the key of a session of the local user.
func keyOf(id string) store.Key { return store.Key{ID: id} }

// stored returns the conversations that are stored.
func stored(w *world) []store.Summary {
	w.Helper()
	found, err := w.db.Store().Conversations(w.Context(), store.Filter{})
	if err != nil {
		w.Fatal(err)
	}
	return found
}

// putBack makes the journal of a session what it was.
func putBack(w *world, id string, steps [][]byte) error {
	s := w.db.Store()
	j, err := s.Journal(w.Context(), keyOf(id))
	if err == nil {
		err = s.DropJournal(w.Context(), keyOf(id))
	}
	if err != nil {
		return err
	}
	head := strings.Replace(string(j.Head), `"root"`, `"running":true,"root"`, 1)
	return s.AddSteps(w.Context(), &store.Addition{Key: keyOf(id), Kind: "session", Head: []byte(head), Steps: steps})
}

// keyed makes a world need keys. It returns those of two users.
func keyed(t testing.TB) (ann, bob string, change func(*world)) {
	ann, bob = "ann's secret key", "bob's secret key"
	ring := keyring.New(keyring.Options{Keys: []keyring.Key{keyring.NewKey("ann", ann), keyring.NewKey("bob", bob)}})
	return ann, bob, func(w *world) { w.keys = ring }
}

// Each user sees only what is his own, by every path that names something.
func TestUsersAreApart(t *testing.T) {
	ann, bob, change := keyed(t)
	w := newWorld(t, echo, change)
	with := func(key string) map[string]string { return map[string]string{"Authorization": "Bearer " + key} }
	get[any](w, 401, httpCall{method: "GET", path: "/v1/sessions"})
	get[any](w, 401, httpCall{method: "GET", path: "/v1/sessions", header: with("guess")})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", header: with(ann)}).ID
	get[outcome](w, 200, httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"my plan"}`, header: with(ann)})
	get[Agent](w, 201, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"mine","model":"claude-sonnet-4-5"}`, header: with(ann)})
	for _, c := range []httpCall{
		{method: "GET", path: "/v1/sessions/" + id}, {method: "GET", path: "/v1/sessions/" + id + "/messages"}, {method: "GET", path: "/v1/sessions/" + id + "/events"},
		{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"x"}`}, {method: "DELETE", path: "/v1/sessions/" + id},
		{method: "GET", path: "/v1/sessions/" + id + "/context"}, {method: "GET", path: "/v1/sessions/" + id + "/export"}, {method: "POST", path: "/v1/sessions/" + id + "/fork"},
		{method: "GET", path: "/v1/agents/mine"}, {method: "DELETE", path: "/v1/agents/mine"},
	} {
		c.header = with(bob)
		get[any](w, 404, c)
	}
	if got := get[[]summary](w, 200, httpCall{method: "GET", path: "/v1/sessions", header: with(bob)}); len(got) != 0 {
		t.Errorf("bob sees %+v", got)
	}
	if got := get[[]summary](w, 200, httpCall{method: "GET", path: "/v1/sessions?q=plan", header: with(bob)}); len(got) != 0 {
		t.Errorf("bob finds %+v", got)
	}
}

// The page has a cookie in place of the key: it says nothing to anybody else, outlives a restart, changes nothing without its token,
// and ends with its key.
func TestTheCookie(t *testing.T) {
	ann, bob, change := keyed(t)
	w := newWorld(t, echo, change, func(w *world) { w.hosts = []string{"chat.example"} })
	get[any](w, 401, httpCall{method: "POST", path: "/v1/login", body: `{"key":"guess"}`})
	get[any](w, 400, httpCall{method: "POST", path: "/v1/login", body: `{`})
	res := w.do(httpCall{method: "POST", path: "/v1/login", body: `{"key":"` + ann + `"}`})
	res.Body.Close()
	var c *http.Cookie
	for _, c = range res.Cookies() {
	}
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, "secret") {
		t.Fatalf("the cookie: %+v", c)
	}
	w.restart()
	h := map[string]string{"Cookie": c.Name + "=" + c.Value}
	me := get[map[string]any](w, 200, httpCall{method: "GET", path: "/v1/me", header: h})
	if me["tenant"] != "ann" || me["open"] != false {
		t.Errorf("me: %v", me)
	}
	get[any](w, 403, httpCall{method: "POST", path: "/v1/sessions", header: h})
	h["X-CSRF-Token"] = me["csrf"].(string)
	get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", header: h})
	h["Sec-Fetch-Site"] = "cross-site"
	get[any](w, 403, httpCall{method: "POST", path: "/v1/sessions", header: h})
	delete(h, "Sec-Fetch-Site")
	get[any](w, 421, httpCall{method: "GET", path: "/v1/me", header: map[string]string{"Host": "evil.example", "Cookie": h["Cookie"]}})
	get[any](w, 200, httpCall{method: "GET", path: "/v1/me", header: map[string]string{"Host": "chat.example:443", "Cookie": h["Cookie"]}})
	get[any](w, 401, httpCall{method: "GET", path: "/v1/me", header: map[string]string{"Cookie": c.Name + "=" + strings.Repeat("A", 80)}})
	w.keys.SetKeys([]keyring.Key{keyring.NewKey("bob", bob)})
	get[any](w, 401, httpCall{method: "GET", path: "/v1/me", header: map[string]string{"Cookie": h["Cookie"]}})
	res = w.do(httpCall{method: "POST", path: "/v1/logout"})
	res.Body.Close()
	if cs := res.Cookies(); len(cs) != 1 || cs[0].MaxAge >= 0 {
		t.Errorf("logging out sets %v", cs)
	}
}

// Without keys a page of another site changes nothing all the same.
func TestOtherSites(t *testing.T) {
	w := newWorld(t, echo)
	if me := get[map[string]any](w, 200, httpCall{method: "GET", path: "/v1/me"}); me["open"] != true {
		t.Errorf("me: %v", me)
	}
	get[any](w, 403, httpCall{method: "POST", path: "/v1/sessions", header: map[string]string{"Sec-Fetch-Site": "cross-site"}})
	get[any](w, 403, httpCall{method: "POST", path: "/v1/sessions", header: map[string]string{"Origin": "https://evil.example"}})
}

// OpenAI's own SDK talks to an agent.
func TestAnOpenAIClient(t *testing.T) {
	ann, _, change := keyed(t)
	w := newWorld(t, echo, change)
	client := openai.NewClient(option.WithBaseURL(w.http.URL+"/v1"), option.WithAPIKey(ann), option.WithMaxRetries(0))
	models, err := client.Models.List(t.Context())
	if err != nil || len(models.Data) != 1 || models.Data[0].ID != "default" {
		t.Fatalf("models: %+v, %v", models, err)
	}
	ask := openai.ChatCompletionNewParams{Model: "default", Messages: []openai.ChatCompletionMessageParamUnion{
		openai.SystemMessage("Be brief."), openai.UserMessage("one"), openai.AssistantMessage("1"), openai.UserMessage("two"),
	}}
	got, err := client.Chat.Completions.New(t.Context(), ask)
	if err != nil || got.Choices[0].Message.Content != "3: two" || got.Choices[0].FinishReason != "stop" || got.Usage.TotalTokens == 0 {
		t.Fatalf("completion: %+v, %v", got, err)
	}
	if sent := w.sent(); !strings.Contains(sent, "Be brief.") {
		t.Errorf("sent is %s", sent)
	}
	stream := client.Chat.Completions.NewStreaming(t.Context(), ask)
	var acc openai.ChatCompletionAccumulator
	chunks := 0
	for stream.Next() {
		chunks++
		acc.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil || acc.Choices[0].Message.Content != "3: two" || chunks < 3 {
		t.Errorf("stream of %d chunks: %+v, %v", chunks, acc.Choices, err)
	}
	for _, bad := range []openai.ChatCompletionNewParams{
		{Model: "nobody", Messages: ask.Messages}, {Model: "default"}, {Model: "default", Messages: ask.Messages[:3]},
		{Model: "default", Messages: []openai.ChatCompletionMessageParamUnion{openai.ToolMessage("x", "call_1")}},
	} {
		if _, err := client.Chat.Completions.New(t.Context(), bad); err == nil {
			t.Errorf("%+v is answered", bad)
		}
	}
	w.legal()
}

// A listener that does not read keeps nobody else waiting.
func TestASlowListener(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(long) }))
	id := w.session()
	slow := w.do(httpCall{method: "GET", path: "/v1/sessions/" + id + "/events"}) // and nothing of it is read
	defer slow.Body.Close()
	for i := range 30 { // much more than connections hold
		if o := w.say(id, "hi"); o.Text != long {
			t.Fatalf("turn %d: %d characters", i, len(o.Text))
		}
	}
}
