package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/wire"
)

// Messages as clients write them: a string, cache markers that move on, thinking, an image, results
// whose content is a list, members that nobody knows.
var sent = []string{
	`{"role":"user","content":"look at \u0061.png"}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"t1","name":"Read","input":{"b":1, "a":2}}]}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"it is red","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},{"type":"text","text":"and?","x_new":[1,{"y":null}],"cache_control":{"type":"ephemeral"}}]}`,
	`{"role":"assistant","content":[{"type":"text","text":"red"}]}`,
	`{"role":"user","content":"thanks"}`,
}

const fixedPart = `"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],"tools":[{"name":"Read","input_schema":{"type":"object"}}],`

// kept sends the conversation that grows, and returns the store and the conversation's key.
func kept(t *testing.T) (store.Store, store.Key) {
	t.Helper()
	db := emptyStore(t)
	e, err := engine.New(db, engine.Options{Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	k := store.Key{}
	for n := 1; n <= len(sent); n += 2 {
		body := `{"model":"claude-sonnet-4-5","max_tokens":1000,` + fixedPart + `"messages":[` + strings.Join(sent[:n], ",") + `],"thinking": {"type":"disabled"},"metadata":{"user_id":"u"}}`
		p, err := e.Prepare(t.Context(), &engine.Request{Session: "s", Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		e.Finish(p, engine.Response{Status: 200, Content: []byte(`[{"type":"text","text":"you are welcome","citations":null}]`)})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cs, err := db.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 1 {
		t.Fatalf("%d conversations, %v", len(cs), err)
	}
	k = cs[0].Key
	return db, k
}

func read(t *testing.T, a archive.Source, k store.Key, version int64) *archive.Transcript {
	t.Helper()
	tr, err := archive.ReadTranscript(t.Context(), a, k, version)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// One can leave at any time: what comes back is what was sent, block for block, the newest answer
// included, with the parameters of the newest request, and only cache markers are missing.
func TestTranscriptIsWhatWasSent(t *testing.T) {
	db, k := kept(t)
	tr := read(t, db, k, store.Newest)
	got, err := tr.Body(tr.Conversation)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"claude-sonnet-4-5","max_tokens":1000,"thinking":{"type":"disabled"},"metadata":{"user_id":"u"},"system":[{"type":"text","text":"Be brief."}],"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[` + strings.Join([]string{
		`{"role":"user","content":[{"type":"text","text":"look at \u0061.png"}]}`,
		sent[1],
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"it is red"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},{"type":"text","text":"and?","x_new":[1,{"y":null}]}]}`,
		sent[3],
		`{"role":"user","content":[{"type":"text","text":"thanks"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"you are welcome","citations":null}]}`,
	}, ",") + `]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !tr.Answered || tr.Conversation.ID != "s" {
		t.Errorf("answered %t, session %q", tr.Answered, tr.Conversation.ID)
	}
}

// An earlier version is the conversation of then, and has no answer.
func TestTranscriptOfAnEarlierVersion(t *testing.T) {
	db, k := kept(t)
	tr := read(t, db, k, 1)
	if n := len(tr.Conversation.Messages); n != 1 || tr.Answered || tr.State.Version != 1 {
		t.Errorf("%d messages, answered %t, version %d; want 1 without an answer at version 1", n, tr.Answered, tr.State.Version)
	}
	if _, err := archive.ReadTranscript(t.Context(), db, k, 99); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("version 99: got %v, want ErrNotFound", err)
	}
	if _, err := archive.ReadTranscript(t.Context(), db, store.Key{ID: "nosuch"}, store.Newest); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such conversation: got %v, want ErrNotFound", err)
	}
}

// The answer is that of the newest request only while the conversation ends with that request.
func TestTranscriptHasNoOldAnswer(t *testing.T) {
	db, k := kept(t)
	s, err := db.Load(t.Context(), k, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	e := entryOf(len(sent)+1, 0, decant.RoleUser, "one more thing")
	b := &store.Batch{Key: k, Version: s.Version, Blobs: e.blobs, Entries: []store.Entry{e.Entry}}
	if _, err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	tr := read(t, db, k, store.Newest)
	last := tr.Conversation.Messages[len(tr.Conversation.Messages)-1]
	if tr.Answered || last.Text() != "one more thing" {
		t.Errorf("answered %t, the last message is %q", tr.Answered, last.Text())
	}
}

// A stored is an entry with its blobs.
type stored struct {
	store.Entry
	blobs [][]byte
}

// entryOf returns an entry for a block of text.
func entryOf(message, block int, role decant.Role, text string) stored {
	raw := `{"type":"text","text":` + quote(text) + `}`
	e := store.Entry{
		Chain: decant.HashText(fmt.Sprint(message, block, text)), Raw: decant.HashText(raw), Text: decant.HashText(text),
		Role: role, Kind: decant.KindText, Author: decant.AuthorUser, Ref: decant.Ref{Message: message, Block: block},
	}
	return stored{e, [][]byte{[]byte(raw), []byte(text)}}
}

// commit commits entries and decisions and returns the new version.
func commit(t *testing.T, db store.Store, b *store.Batch, entries ...stored) int64 {
	t.Helper()
	for _, e := range entries {
		b.Entries = append(b.Entries, e.Entry)
		b.Blobs = append(b.Blobs, e.blobs...)
	}
	v, err := db.Commit(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Clients leave things out, so numbers may have gaps; decisions speak of the numbers of the
// transcript, and a body is written all the same.
func TestTranscriptKeepsNumbers(t *testing.T) {
	db, k := emptyStore(t), store.Key{ID: "c"}
	edited := entryOf(4, 2, decant.RoleUser, "a long text")
	d := decant.Decision{ID: "d1", Kind: decant.Shrink, Text: "short", Target: decant.Target{Ref: edited.Ref, Hash: edited.Text}}
	commit(t, db, &store.Batch{Key: k, Create: &store.Creation{Session: "s"}, Decisions: []decant.Decision{d}},
		entryOf(2, 0, decant.RoleUser, "one"), entryOf(3, 1, decant.RoleAssistant, "two"), entryOf(4, 0, decant.RoleUser, "three"), edited)
	tr := read(t, db, k, store.Newest)
	view, err := tr.View()
	if err != nil {
		t.Fatal(err)
	}
	body, err := tr.Body(view)
	if err != nil {
		t.Fatal(err)
	}
	want := `"messages":[{"role":"user","content":[{"type":"text","text":"one"}]},{"role":"assistant","content":[{"type":"text","text":"two"}]},{"role":"user","content":[{"type":"text","text":"three"},{"type":"text","text":"short"}]}]}`
	if !strings.HasSuffix(string(body), want) {
		t.Errorf("body %s, want it to end with %s", body, want)
	}
	if got := wire.Text(tr.Conversation); !strings.Contains(got, "== m4 user\nthree\na long text\n") {
		t.Errorf("transcript:\n%s", got)
	}
}

// A checkpoint that a fork has inherited was made in the conversation that it was forked from.
func TestFindCheckpoint(t *testing.T) {
	db, k, fork := emptyStore(t), store.Key{ID: "c"}, store.Key{ID: "f"}
	cover := func(id string, number, to int) []decant.Decision {
		cp := &decant.Checkpoint{Number: number, From: 1, To: to, Messages: to, Summary: "s"}
		return []decant.Decision{{ID: id, Kind: decant.Cover, Checkpoint: cp}}
	}
	v := commit(t, db, &store.Batch{Key: k, Create: &store.Creation{Session: "s"}}, entryOf(1, 0, decant.RoleUser, "one"))
	v = commit(t, db, &store.Batch{Key: k, Version: v}, entryOf(2, 0, decant.RoleAssistant, "two"))
	v = commit(t, db, &store.Batch{Key: k, Version: v, Decisions: cover("d1", 1, 1)}, entryOf(3, 0, decant.RoleUser, "three"))
	v = commit(t, db, &store.Batch{Key: k, Version: v}, entryOf(4, 0, decant.RoleAssistant, "four"))
	origin := &store.Origin{Parent: k.ID, Version: v, Position: 3, InForce: v}
	f := commit(t, db, &store.Batch{Key: fork, Create: &store.Creation{Session: "s", Origin: origin}}, entryOf(4, 0, decant.RoleAssistant, "other"))
	commit(t, db, &store.Batch{Key: fork, Version: f, Decisions: cover("d2", 2, 3)})
	begun := store.Key{ID: "g"} // with what its parent began with
	commit(t, db, &store.Batch{Key: begun, Create: &store.Creation{Session: "s", Origin: &store.Origin{Parent: fork.ID, Version: f, Position: 3}}},
		entryOf(4, 0, decant.RoleAssistant, "another"))

	for _, tt := range []struct {
		key     store.Key
		number  int
		in      store.Key
		version int64
		before  int
	}{
		{k, 1, k, 3, 0},
		{fork, 1, k, 3, 0},
		{begun, 1, k, 3, 0},
		{fork, 2, fork, 2, 1},
	} {
		c, err := archive.FindCheckpoint(t.Context(), db, tt.key, tt.number)
		if err != nil {
			t.Errorf("checkpoint %d of %s: %v", tt.number, tt.key.ID, err)
			continue
		}
		if c.Key != tt.in || c.Version != tt.version || len(c.Before) != tt.before || len(c.Made) != 1 {
			t.Errorf("checkpoint %d of %s: got %+v, want version %d of %s with %d decisions before", tt.number, tt.key.ID, c, tt.version, tt.in.ID, tt.before)
		}
	}
	if _, err := archive.FindCheckpoint(context.Background(), db, k, 2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("checkpoint 2 of c: got %v, want ErrNotFound", err)
	}
}

// Whatever clients do, every stored conversation can be read back, and what was sent is the view of it:
// of all of it, or, for a client that went back to an earlier point, of that beginning.
func (s *step) transcriptsCanBeRead() {
	var views []string
	got := words(s, s.x.sent)
	named := s.x.header.Get("X-Decant-Conversation")
	for id, state := range s.w.conversations(s.c.tenant) {
		if named != "" && id != named {
			continue
		}
		tr, err := archive.ReadTranscript(context.Background(), s.w.db, state.Key, state.Version)
		if err != nil {
			s.Fatalf("conversation %s: %v", id, err)
		}
		view, err := tr.View()
		if err != nil {
			s.Fatalf("view of conversation %s: %v", id, err)
		}
		body, err := tr.Body(view)
		if err != nil {
			s.Fatalf("body of conversation %s: %v", id, err)
		}
		views = append(views, words(s, body))
		if then := newestView(s, s.w.db, state.Key); then != nil && said(then) == got {
			return
		}
	}
	if len(views) == 0 {
		s.Fatalf("what was sent for %q is of no conversation in the store:\n%s", named, got)
	}
	if !slices.ContainsFunc(views, func(v string) bool { return strings.HasPrefix(v, got) }) {
		s.Fatalf("what was sent is the view of no conversation (of %d):\n%s", len(views), cmp.Diff(got, views[0]))
	}
}

// A request for what is a beginning of a stored conversation adds nothing to it. What it was sent is
// the view of that beginning, without the pour that came later, and the log says so: it names the
// version and how much of the chain the request held.
func TestTranscriptOfARequestThatGoesBack(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Begin.")
	k.says("I have begun.")
	early := len(k.ms)
	k.pour()
	whole := k.state()
	k.ms = k.ms[:early+1] // to the words before the first round
	k.mustSend()
	if got := k.last.Report.Relation; got != "returns" {
		t.Fatalf("the request %s the conversation, want returns", got)
	}
	if s := k.state(); s.ID != whole.ID || s.Version != whole.Version {
		t.Errorf("going back made version %d of %s out of version %d of %s", s.Version, s.ID, whole.Version, whole.ID)
	}
	then := newestView(t, k.store, whole.Key)
	if then == nil {
		t.Fatal("the log does not have the request")
	}
	if diff := cmp.Diff(said(k.last.View()), said(then)); diff != "" {
		t.Errorf("the view of the beginning (-sent +read back):\n%s", diff)
	}
	if n := len(then.Messages); n != early+1 {
		t.Errorf("%d messages were sent, want %d verbatim", n, early+1)
	}
}

// newestView returns the view that the newest request of a conversation was answered under, as the
// store has it. It is nil when no request is stored.
func newestView(t fataler, a archive.Source, k store.Key) *decant.Conversation {
	t.Helper()
	rs, err := a.Requests(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	if len(rs) == 0 {
		return nil
	}
	tr, err := archive.ReadRequest(context.Background(), a, k, &rs[len(rs)-1])
	if err != nil {
		t.Fatal(err)
	}
	view, err := decant.View(tr.Conversation, decant.Sent(tr.State.Decisions))
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// A fataler is a test, generated or not.
type fataler interface {
	Helper()
	Fatal(...any)
}

// words returns who says what in a body, see said.
func words(s *step, body []byte) string {
	doc, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		s.Fatal(err)
	}
	return said(doc.Conversation)
}

// said returns who says what in a conversation, thinking left out, neighbours of one role together.
func said(c *decant.Conversation) string {
	var out strings.Builder
	role := decant.Role("")
	for _, m := range c.Messages {
		if m.Role != role {
			fmt.Fprintf(&out, "== %s\n", m.Role)
		}
		role = m.Role
		for k := range m.Blocks {
			if b := &m.Blocks[k]; b.Kind != decant.KindThinking {
				fmt.Fprintf(&out, "%s %s %s %.70q\n", b.Kind, b.CallID, b.Hash().Short(), b.Text())
			}
		}
	}
	return out.String()
}

// A client that leaves thinking out, while the chain has it, holds more of the chain than it counts
// blocks: its request is the newest all the same, and so is the answer to it.
func TestTranscriptHasTheAnswerToARequestWithoutThinking(t *testing.T) {
	const thought = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"red"}]}`
	for _, c := range []struct {
		name string
		ms   []string
		want int // entries of the chain that the newest request holds
	}{
		{"NothingNew", []string{thought, `{"role":"user","content":"and?"}`}, 4},
		{"LeavesItOut", []string{`{"role":"assistant","content":"red"}`, `{"role":"user","content":"and?"}`, `{"role":"assistant","content":"blue"}`, `{"role":"user","content":"thanks"}`}, 6},
		{"LeavesItOutOnce", []string{`{"role":"assistant","content":"red"}`, `{"role":"user","content":"and?"}`}, 4},
		{"GoesOn", []string{thought, `{"role":"user","content":"and?"}`, thought, `{"role":"user","content":"thanks"}`}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newDialogue(t, engine.Options{})
			k.extra = `"thinking":{"type":"enabled","budget_tokens":1024},`
			k.user("look")
			first := k.ms
			for _, ms := range [][]string{nil, {thought, `{"role":"user","content":"and?"}`}, c.ms} {
				k.ms = append(first[:1:1], ms...)
				k.engine.Finish(k.prepare(), engine.Response{Status: http.StatusOK, Content: []byte(`[{"type":"text","text":"noted"}]`)})
				k.engine.Close()
			}
			key := store.Key{ID: k.last.Conversation}
			rs, err := k.store.Requests(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if got := rs[len(rs)-1].Length; got != c.want {
				t.Errorf("the request is kept as one of the first %d entries, want %d", got, c.want)
			}
			tr := read(t, k.store, key, store.Newest)
			last := tr.Conversation.Messages[len(tr.Conversation.Messages)-1]
			if !tr.Answered || last.Text() != "noted" {
				t.Errorf("answered %t, the last message is %q", tr.Answered, last.Text())
			}
		})
	}
}

// Several answers that are archived together are each kept with as much of the chain as their request
// held, whatever thinking the client leaves out.
func TestRequestsArchivedTogetherKnowTheirPlace(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	gate := &gated{Store: k.store, open: make(chan struct{}), busy: make(chan struct{}, 10)}
	k.store = gate
	k.start(engine.Options{})
	k.extra = `"thinking":{"type":"enabled","budget_tokens":1024},`
	thought := func(n int) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"answer %d"}]}`, n)
	}
	k.user("look")
	for n := range 5 { // the second is being written while the others wait
		p := k.prepare()
		k.engine.Finish(p, engine.Response{Status: http.StatusOK, Content: []byte(`[{"type":"text","text":"noted"}]`)})
		if n < 2 {
			<-gate.busy
		}
		if n == 0 {
			gate.open <- struct{}{}
			k.engine.Close()
		}
		k.ms = append(k.ms, thought(n))
		k.user("and then?")
	}
	close(gate.open)
	key := store.Key{ID: k.last.Conversation}
	k.engine.Close()
	rs, err := k.store.Requests(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range rs {
		got = append(got, r.Length)
	}
	if want := []int{1, 4, 7, 10, 13}; !slices.Equal(got, want) {
		t.Errorf("the requests held %d entries, want %d", got, want)
	}
}

// A gated store says when it is asked to commit, and waits to be let.
type gated struct {
	engine.Store
	open, busy chan struct{}
}

func (g *gated) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	g.busy <- struct{}{}
	<-g.open
	return g.Store.Commit(ctx, b)
}

// A client that cuts its messages anew begins them anew. When something is decided about such a
// request, it is stored before it leaves, and the answer finds its place behind it.
func TestTranscriptHasTheAnswerToMessagesCutAnew(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("look")
	k.round(1, "red")
	k.ms[2] = strings.TrimSuffix(k.ms[2], "]}") + `,{"type":"text","text":"By the way."}]}`
	finish := func() {
		k.engine.Finish(k.prepare(), engine.Response{Status: http.StatusOK, Usage: decant.Usage{Input: 1000, Output: 10}, Content: []byte(`[{"type":"text","text":"noted"}]`)})
		k.engine.Close()
	}
	finish()
	k.ms[2] = strings.Replace(k.ms[2], `,{"type":"text","text":"By the way."}]}`, `]},{"role":"user","content":"By the way."}`, 1)
	k.round(2, strings.Repeat("\x1b[32mok\x1b[0m\n", 2000))
	finish()
	if len(k.last.Report.Decisions) == 0 {
		t.Fatal("nothing was decided: the test shows nothing")
	}
	tr := read(t, k.store, store.Key{ID: k.last.Conversation}, store.Newest)
	if last := tr.Conversation.Messages[len(tr.Conversation.Messages)-1]; !tr.Answered || last.Text() != "noted" {
		t.Errorf("answered %t, the last message is %.60q", tr.Answered, last.Text())
	}
	k.round(3, "done")
	if p := k.prepare(); p.Report.Before < 1000 || p.Report.Before > 1100 {
		t.Errorf("metered at %d tokens after a report of 1,010 and a small round", p.Report.Before)
	}
}

// Two requests may read a conversation at once, while its archive is being written. The engine that
// served them meters what comes next as one does that has just been started.
func TestMeterAfterRequestsThatReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDialogue(t, engine.Options{})
		late := &late{Store: k.store, done: make(chan struct{}), back: make(chan struct{})}
		k.store = late
		k.start(engine.Options{Timeouts: engine.Timeouts{Optional: time.Minute, Required: time.Minute}}) // as long as the second request waits for the first
		answer := func(p *engine.Prepared, tokens int) {
			k.engine.Finish(p, engine.Response{Status: http.StatusOK, Usage: decant.Usage{Input: tokens, Output: 10}, Content: []byte(`[{"type":"text","text":"noted"}]`)})
		}
		k.user("look")
		answer(k.prepare(), 2000)
		<-late.done // it is in the store, and the engine does not know yet
		again := k.prepare()
		close(late.back)
		k.engine.Close()
		answer(again, 3000)
		k.engine.Close()
		k.says("noted")
		k.user("and?")
		metered := k.prepare().Report.Before
		k.start(engine.Options{})
		if want := k.prepare().Report.Before; metered != want || want < 3000 {
			t.Errorf("metered at %d tokens, and at %d by an engine that has just been started", metered, want)
		}
	})
}

// A late store has committed before it says so.
type late struct {
	engine.Store
	done, back chan struct{}
}

func (l *late) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	v, err := l.Store.Commit(ctx, b)
	select {
	case <-l.back:
	case l.done <- struct{}{}:
		<-l.back
	}
	return v, err
}

// The size of a request may be asked for while the request itself is being archived. However the two
// meet, what is counted is what was sent, also when a pour would be due by now.
func TestCountWhileTheRequestIsArchived(t *testing.T) {
	early, err := preset.Parse("early.yaml", []byte("name: early\ntrigger: {tokens: 2000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	k := newDialogue(t, engine.Options{})
	slow := &slow{Store: k.store, read: make(chan struct{}), back: make(chan struct{})}
	k.store = slow
	k.start(engine.Options{Memory: engine.Memory{Conversations: 1}})
	finish := func(p *engine.Prepared) {
		k.engine.Finish(p, engine.Response{Status: http.StatusOK, Content: []byte(`[{"type":"text","text":"noted"}]`)})
		k.engine.Close()
	}
	k.user("look")
	k.round(1, output("call_1", 20))
	finish(k.prepare())
	k.round(2, output("call_2", 20))
	sent := k.prepare()
	other := []byte(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Something else."}]}`)
	p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: "other", Body: other})
	if err != nil {
		t.Fatal(err)
	}
	finish(p) // there is room in memory for one conversation: this one
	slow.on.Store(true)
	counted := make(chan *engine.Prepared)
	go func() {
		p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body(), Preset: early, Count: true})
		if err != nil {
			t.Error(err)
		}
		counted <- p
	}()
	<-slow.read // it has read the conversation as it was
	finish(sent)
	close(slow.back)
	if p := <-counted; !bytes.Equal(p.Body, sent.Body) {
		t.Errorf("counted as poured (%s): %d bytes of the %d that were sent", p.Report.Reason, len(p.Body), len(sent.Body))
	}
}

// A slow store has read a conversation before it says so, once.
type slow struct {
	engine.Store
	on         atomic.Bool
	read, back chan struct{}
}

func (s *slow) Load(ctx context.Context, k store.Key, version int64) (*store.State, error) {
	st, err := s.Store.Load(ctx, k, version)
	if s.on.CompareAndSwap(true, false) {
		s.read <- struct{}{}
		<-s.back
	}
	return st, err
}

// A client may go back to a message that a checkpoint covers last, and say more in it. That goes
// another way, in which the checkpoint does not stand for what was added: now, when the request is made
// again, and after a restart.
func TestForkThatSaysMoreInACoveredMessage(t *testing.T) {
	k := newDialogue(t, engine.Options{Window: 12_000})
	k.user("Do the work.")
	var cp *decant.Checkpoint
	for n := 1; cp == nil && n < 200; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
		k.mustSend()
		for _, d := range k.last.Report.Decisions {
			if d.Checkpoint != nil {
				cp = d.Checkpoint
			}
		}
	}
	if cp == nil {
		t.Fatal("no checkpoint: the test shows nothing")
	}
	k.start(engine.Options{}) // with room for another way
	k.ms = k.ms[:cp.To]
	k.ms[cp.To-1] = strings.TrimSuffix(k.ms[cp.To-1], "]}") + `,{"type":"text","text":"By the way: use port 7000."}]}`
	k.mustSend()
	if got := k.last.Report.Relation; got != "forks" {
		t.Fatalf("the request %s, want forks", got)
	}
	sent := k.last.Body
	if !bytes.Contains(sent, []byte("use port 7000")) {
		t.Error("what was said newly is not in the view")
	}
	if p := k.prepare(); !bytes.Equal(p.Body, sent) {
		t.Errorf("the same request leaves as %d bytes, after %d", len(p.Body), len(sent))
	}
	k.start(engine.Options{})
	if p := k.prepare(); !bytes.Equal(p.Body, sent) {
		t.Errorf("after a restart the same request leaves as %d bytes, after %d", len(p.Body), len(sent))
	}
}
