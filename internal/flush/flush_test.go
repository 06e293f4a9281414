package flush_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/transport"
)

// A speaker answers like any model, and to a flush it saves every preference that it sees, and leaks a key.
type speaker struct {
	calls bool // a tool, besides
	tool  bool // saves with the tool save_memory
	mute  bool // says something else
}

var preference = regexp.MustCompile(`I prefer [a-z0-9 ]+`)

func (s speaker) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	if !strings.HasSuffix(strings.TrimSpace(p.Last(decant.RoleUser)), "if nothing needs saving.") {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Noted, I decided to keep to it."}}}, nil
	}
	if s.mute {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "What a nice conversation."}}}, nil
	}
	if s.tool {
		return sandbox.Answer{Blocks: []sandbox.Block{
			{Kind: decant.KindText, Text: "SILENT"},
			{Kind: decant.KindUse, Name: "save_memory", Input: []byte(`{"content":"The user counts on Fridays."}`)},
		}}, nil
	}
	var b strings.Builder
	for _, m := range p.Messages {
		for _, bl := range m.Blocks {
			for _, found := range preference.FindAllString(bl.Text, -1) {
				fmt.Fprintf(&b, "SAVE: The user said: %s\n", found)
			}
		}
	}
	b.WriteString("SAVE: key sk-ant-api03-" + strings.Repeat("aB3dE5fG7h", 9) + "AA\nSILENT\n")
	out := []sandbox.Block{{Kind: decant.KindText, Text: b.String()}}
	if s.calls {
		out = append(out, sandbox.Block{Kind: decant.KindUse, Name: "delete_everything"})
	}
	return sandbox.Answer{Blocks: out}, nil
}

// A world is a gateway's inside with a model that saves.
type world struct {
	t       *testing.T
	api     *sandbox.Server
	url     string
	db      store.Store
	engine  *engine.Engine
	flusher *flush.Flusher
	http    *http.Client
	told    chan flush.Flushed

	checkpoints int    // of the one conversation
	tool        string // that the client declares
}

func newWorld(t *testing.T, model sandbox.Model, asks bool) *world {
	w := &world{
		t: t, api: sandbox.New(sandbox.Options{Model: model}), told: make(chan flush.Flushed, 100),
		tool: "delete_everything",
	}
	srv := httptest.NewServer(w.api)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	var err error
	if w.db, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	o := flush.Options{Store: w.db, Told: func(f flush.Flushed) { w.told <- f }}
	if asks {
		o.Asker = w.caller()
	}
	chat, err := preset.Load("chat")
	if err != nil {
		t.Fatal(err)
	}
	chat.Trigger.Window, chat.Trigger.Reserve = 12_000, 3_000
	w.flusher = flush.New(o)
	if w.engine, err = engine.New(w.db, engine.Options{Preset: chat, Timeouts: sandboxtest.Patient, Models: engine.Models{Flusher: w.flusher, Recall: w.flusher.Recall}, ArchiveDelay: -1}); err != nil {
		t.Fatal(err)
	}
	w.http = &http.Client{Transport: transport.New(w.engine, transport.Options{Project: "/src/shop", Done: w.count})}
	t.Cleanup(func() {
		w.engine.Close()
		w.db.Close()
	})
	return w
}

// count counts checkpoints. Requests come one after the other.
func (w *world) count(_ *http.Request, p *engine.Prepared, _ engine.Response) {
	if decant.CheckpointIn(p.Report.Decisions) != nil {
		w.checkpoints++
	}
}

// caller returns a real caller with the credential of the client: there alone the prompt is in the cache.
func (w *world) caller() owncalls.Asker {
	client, err := anthropic.New(anthropic.Options{Base: w.url, Credential: provider.Key("x-api-key", "client-key")})
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := owncalls.NewCaller(owncalls.Options{Ledger: w.db, Account: &provider.Account{Client: client, Upstream: w.url, Shared: true}})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// say sends a conversation with one more message, and returns it with the answer.
func (w *world) say(ms []message, text string) []message {
	w.t.Helper()
	quoted, _ := json.Marshal(text)
	ms = append(ms, message{"user", quoted})
	all, _ := json.Marshal(ms)
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-6","max_tokens":1000,"cache_control":{"type":"ephemeral"},`+
		`"tools":[{"name":%q,"input_schema":{"type":"object"}}],"messages":%s}`, w.tool, all)
	r, err := http.NewRequest(http.MethodPost, w.url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Api-Key": {"client-key"}, "Anthropic-Version": {"2023-06-01"},
	}
	res, err := w.http.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("status %d, error %v: %s", res.StatusCode, err, answer)
	}
	if bytes.Contains(answer, []byte("SILENT")) || bytes.Contains(answer, []byte("SAVE:")) {
		w.t.Fatal("the client saw a flush")
	}
	var said struct{ Content json.RawMessage }
	if err := json.Unmarshal(answer, &said); err != nil {
		w.t.Fatal(err)
	}
	return append(ms, message{"assistant", said.Content})
}

// filler is about 600 tokens that say nothing worth keeping.
func filler(n int) string {
	return strings.Repeat(fmt.Sprintf("The weather on day %d was rather mild again. ", n), 45)
}

// items returns what is remembered.
func (w *world) items() []memory.Item {
	w.t.Helper()
	items, err := w.db.Memories(w.t.Context(), store.MemoryQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	return items
}

// A conversation of ten cycles is flushed ten times: no turn of it is
// seen by the client or enters the conversation, what was preferred is remembered, a key is not, and the flush reads
// the conversation from the provider's cache.
func TestMemoryFlushFiresOncePerCycle(t *testing.T) {
	w := newWorld(t, speaker{calls: true}, true)
	var ms []message
	var said []string
	n := 0
	for w.checkpoints < 10 {
		n++
		said = append(said, fmt.Sprintf("I prefer colour number %d", n))
		ms = w.say(ms, said[n-1]+". "+filler(n))
	}
	w.engine.Close()
	close(w.told)
	cycles := map[int]int{}
	for f := range w.told {
		cycles[f.Cycle]++
		if f.By != "model" || f.Why != nil {
			t.Errorf("cycle %d: by %s, %v", f.Cycle, f.By, f.Why)
		}
	}
	for c := range 10 {
		if cycles[c] != 1 {
			t.Errorf("cycle %d was flushed %d times", c, cycles[c])
		}
	}
	var all strings.Builder
	for _, it := range w.items() {
		fmt.Fprintln(&all, it.Text)
	}
	for _, s := range said[:len(said)-12] { // the newest are still in view
		if !strings.Contains(all.String(), s+"\n") {
			t.Errorf("%q is not remembered", s)
		}
	}
	if strings.Contains(all.String(), "sk-ant") {
		t.Error("a key is remembered")
	}
	w.readsTheCache()
	w.keepsNothing()
}

// readsTheCache checks that flushes find their conversation in the provider's cache.
func (w *world) readsTheCache() {
	w.t.Helper()
	read, prompt, flushes := 0, 0, 0
	for _, e := range w.api.Log.Entries() {
		if e.Header.Get("X-Stainless-Lang") != "" { // own calls are made by the SDK
			flushes++
			read, prompt = read+e.Usage.CacheRead, prompt+e.Usage.Prompt()
			if e.Status != http.StatusOK {
				w.t.Errorf("a flush was refused: %s", e.Error)
			}
		}
	}
	if flushes < 10 || float64(read) < 0.5*float64(prompt) {
		w.t.Errorf("%d flushes read %d of %d tokens from the cache", flushes, read, prompt)
	}
}

// keepsNothing checks that nothing of a flush is in the transcript.
func (w *world) keepsNothing() {
	w.t.Helper()
	for _, word := range []string{"SILENT", "Pre-compaction"} {
		hits, err := w.db.Search(w.t.Context(), store.Query{Text: word})
		if err != nil || len(hits) > 0 {
			w.t.Errorf("%q is in the transcript: %v, %v", word, hits, err)
		}
	}
}

// fill talks until the conversation has a checkpoint, and waits for what is done behind the requests.
func (w *world) fill(first string) []flush.Flushed {
	w.t.Helper()
	var ms []message
	for n := 0; w.checkpoints < 1; n++ {
		ms = w.say(ms, first+filler(n))
		first = ""
	}
	w.engine.Close()
	close(w.told)
	var out []flush.Flushed
	for f := range w.told {
		out = append(out, f)
	}
	return out
}

// texts returns what is remembered, line by line.
func (w *world) texts() string {
	var b strings.Builder
	for _, it := range w.items() {
		fmt.Fprintln(&b, it.Text)
	}
	return b.String()
}

// An agent that declares save_memory saves with it; the call is not made, only what it saves is taken.
func TestMemoryFlushCallsSaveMemoryTool(t *testing.T) {
	w := newWorld(t, speaker{tool: true}, true)
	w.tool = "save_memory"
	w.fill("")
	if got := w.texts(); got != "The user counts on Fridays.\n" {
		t.Errorf("remembered: %q", got)
	}
}

// What a model answers instead of saving is shown to nobody, and what the conversation itself says must be kept is
// saved.
func TestMemoryFlushSuppressesSilentResponse(t *testing.T) {
	for _, mute := range []bool{false, true} {
		w := newWorld(t, speaker{mute: mute}, true)
		done := w.fill("Never deploy on a Friday without asking me. ")
		if len(done) == 0 || (done[0].By == "facts") != mute {
			t.Errorf("mute %v: %+v", mute, done)
		}
		if got := w.texts(); mute && !strings.Contains(got, "Never deploy on a Friday") ||
			strings.Contains(got, "nice conversation") {
			t.Errorf("mute %v: remembered %q", mute, got)
		}
		w.keepsNothing()
	}
}

// Without a model the user's instructions are saved as they stand, and no call is made.
func TestMemoryFlushWithoutAModel(t *testing.T) {
	w := newWorld(t, speaker{}, false)
	done := w.fill("Never deploy on a Friday without asking me. ")
	if len(done) != 1 || done[0].By != "facts" || !strings.Contains(w.texts(), "Never deploy on a Friday") {
		t.Errorf("%+v; remembered %q", done, w.texts())
	}
	for _, e := range w.api.Log.Entries() {
		if e.Header.Get("X-Stainless-Lang") != "" {
			t.Error("a call of our own was made")
		}
	}
}

// A cycle that another process has flushed is not flushed again.
func TestMemoryFlushSkippedWhenAlreadyFlushed(t *testing.T) {
	w := newWorld(t, speaker{}, true)
	ms := w.say(nil, "Hello.")
	w.claim()
	for n := 0; w.checkpoints < 1; n++ {
		ms = w.say(ms, filler(n))
	}
	w.engine.Close()
	if len(w.told) > 0 || len(w.items()) > 0 {
		t.Errorf("%d flushes, remembered %q", len(w.told), w.texts())
	}
}

// claim claims the first cycle of the one conversation, once it is stored.
func (w *world) claim() {
	w.t.Helper()
	for w.t.Context().Err() == nil {
		all, err := w.db.Conversations(w.t.Context(), store.Filter{})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(all) == 1 {
			if first, err := w.db.Claim(w.t.Context(), all[0].Key, "flush 0", all[0].Created); err != nil || !first {
				w.t.Fatal(first, err)
			}
			return
		}
	}
}

// A later conversation about the project is told what is remembered, once, behind its first words; one about
// another project, and one that has begun already, is told nothing.
func TestRecallTellsALaterConversation(t *testing.T) {
	w := newWorld(t, speaker{}, false)
	scope := memory.Scope{Level: memory.Project, Name: "/src/shop"}
	it, err := memory.New("m:1", memory.KindMemory, scope, "Prices are in cents.", memory.Source{}, w.api.Log.Last().Time)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.db.Revise(t.Context(), "", scope, memory.Save(it)); err != nil {
		t.Fatal(err)
	}
	ms := w.say(nil, "What is a price?")
	w.say(ms, "And now?")
	for i, e := range w.api.Log.Entries() {
		if n := bytes.Count(e.Body, []byte("Prices are in cents.")); n != 1 {
			t.Errorf("request %d tells it %d times: %s", i+1, n, e.Body)
		}
	}
	w.api.Log.Reset()
	w.say([]message{{"user", []byte(`"Hi."`)}, {"assistant", []byte(`"Hello."`)}}, "What is a price?")
	if e := w.api.Log.Last(); bytes.Contains(e.Body, []byte("cents")) {
		t.Errorf("a conversation that has begun elsewhere is told: %s", e.Body)
	}
}
