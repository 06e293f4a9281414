package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/wire"
)

// A play is a generated history of clients that do whatever clients do: they go on, try again, abort,
// edit, go back, leave things out, write the same thing differently, ask twice at once; and between any
// two steps everything may be stopped and started anew.
type play struct {
	*rapid.T
	w       *world
	callers []*caller
	checks  []func(*step) // after each exchange
}

// A step is one exchange of a play.
type step struct {
	*play
	c      *caller
	x      exchange
	before []byte // what was sent for the same caller the time before, nil when the client changed more than the end
	known  int    // messages of the request before
}

type mode struct{ model, thinking string }

var modes = []mode{
	{"claude-sonnet-4-5", ""},
	{"claude-sonnet-4-5", `{"type":"enabled","budget_tokens":1024}`},
	{"claude-opus-4-6", `{"type":"adaptive"}`},
	{"claude-sonnet-5-5", `{"type":"adaptive"}`},
}

// plays runs generated histories with checks after each exchange.
func plays(t *testing.T, checks ...func(*step)) {
	t.Parallel()
	for range testkit.Depth(2, 5) {
		rapid.Check(t, func(rt *rapid.T) {
			w := newWorld(rt)
			defer w.close()
			p := &play{T: rt, w: w, checks: checks}
			for i := range rapid.IntRange(1, 2).Draw(rt, "clients") {
				m := rapid.SampledFrom(modes).Draw(rt, "mode")
				p.callers = append(p.callers, &caller{
					w: w, tenant: rapid.SampledFrom([]string{"", "t1"}).Draw(rt, "tenant"),
					session: rapid.SampledFrom([]string{"", "s1", fmt.Sprintf("own%d", i)}).Draw(rt, "session"),
					model:   m.model, thinking: m.thinking,
				})
			}
			for range rapid.IntRange(5, 40).Draw(rt, "steps") {
				p.step(rapid.SampledFrom(p.callers).Draw(rt, "client"))
			}
		})
	}
}

// These checks leave the archive alone: it is written while the next requests come.
func TestInvariant5EveryViewIsLegal(t *testing.T) {
	plays(t, (*step).everyViewIsLegal, (*step).viewsFitTheWindow, (*step).whatIsSentIsTheView)
}

// These checks compare what is sent with the store, so that each waits for the archive.
func TestInvariantsOfTheStore(t *testing.T) {
	plays(t,
		(*step).unchangedRequestsLeaveAsTheSameBytes, (*step).everyBlockIsOneOfFour, (*step).everyDecisionExpandsToItsOriginal,
		(*step).anyNodeSendsTheSameBytes, (*step).viewsGrowAtTheirEnd, (*step).askingWritesNothing, (*step).tenantsSeeNothingOfEachOther,
		(*step).transcriptsCanBeRead, (*step).everyViewIsLegal)
}

// step lets one client do one thing, and sends what comes of it.
func (p *play) step(c *caller) {
	s := &step{play: p, c: c, known: len(c.ms)}
	grown := true
	switch open := len(c.calls()) > 0; {
	case len(c.ms) == 0:
		c.say(p.words("first"))
	case open:
		c.answer(p)
		if rapid.IntRange(0, 5).Draw(p.T, "queued") == 0 {
			last := &c.ms[len(c.ms)-1]
			last.parts = append(last.parts, part{kind: "text", text: p.words("queued")})
		}
	case c.answered:
		grown = c.turn(p)
	default: // a request that was not answered, which does not happen here
		p.Fatalf("the client waits for an answer: %+v", c.ms[len(c.ms)-1])
	}
	p.restyle(c)
	if rapid.IntRange(0, 9).Draw(p.T, "restart") == 0 {
		p.w.restart()
	}
	if grown {
		s.before = c.last
	}
	s.x = p.exchange(c)
	s.check()
	if rapid.IntRange(0, 7).Draw(p.T, "retry") == 0 {
		p.again(c, s.x)
	}
	if rapid.IntRange(0, 7).Draw(p.T, "edit tail") == 0 && len(c.ms) > 1 && c.ms[len(c.ms)-1].parts[0].kind == "text" {
		c.ms[len(c.ms)-1].parts[0].text = p.words("edited")
		s.x = p.exchange(c)
		s.before = nil
		s.check()
	}
	c.accept(s.x)
}

func (s *step) check() {
	for _, check := range s.checks {
		check(s)
	}
	s.c.last = s.x.sent
}

func (p *play) words(label string) string {
	n := rapid.IntRange(1, 30).Draw(p.T, label)
	return fmt.Sprintf("%s: please look at file_%d.go and do part %d. ", label, n, n) + strings.Repeat("Mind the details. ", n)
}

// restyle changes how the client writes.
func (p *play) restyle(c *caller) {
	if rapid.IntRange(0, 4).Draw(p.T, "restyle") > 0 {
		return
	}
	b := rapid.Bool()
	c.style = style{strings: b.Draw(p.T, "strings"), spaces: b.Draw(p.T, "spaces"), reorder: b.Draw(p.T, "reorder"), marker: b.Draw(p.T, "marker")}
}

// exchange sends the client's request; sometimes it is prepared twice at once before that, by the engine
// that has been running and by one that has just been started. They know the same: what is in the store.
func (p *play) exchange(c *caller) exchange {
	if rapid.IntRange(0, 9).Draw(p.T, "twice") > 0 {
		return c.send(p.w.client)
	}
	p.w.engine.Close() // what is archived is there for both
	var sent [2][]byte
	var wg sync.WaitGroup
	body := c.style.write(c.model, c.thinking, c.ms)
	other := p.w.newEngine()
	defer other.Close()
	for i, e := range []*engine.Engine{p.w.engine, other} {
		wg.Go(func() {
			q, err := e.Prepare(context.Background(), &engine.Request{Tenant: c.tenant, Session: c.session, Body: body})
			if err != nil || q.Fault != nil {
				p.Errorf("twice at once: %v, %v", err, q)
				return
			}
			sent[i] = q.Body
		})
	}
	wg.Wait()
	if !bytes.Equal(sent[0], sent[1]) {
		p.Errorf("twice at once: two engines sent different views of one request:\n%s\n\n%s", brief(p.T, sent[0]), brief(p.T, sent[1]))
	}
	return c.send(p.w.client)
}

// again sends the same request again: it must leave as the same bytes.
func (p *play) again(c *caller, x exchange) {
	if y := c.send(p.w.client); !bytes.Equal(x.sent, y.sent) {
		p.Errorf("a retry left as other bytes:\n%s\n\n%s", brief(p.T, x.sent), brief(p.T, y.sent))
	}
}

// say appends a message of the user, sometimes with a note of the client's.
func (c *caller) say(words string) {
	c.ms = append(c.ms, saying{role: "user", parts: []part{{kind: "text", text: words}}})
	c.answered = false
}

// answer appends the results of all calls, of any size.
func (c *caller) answer(p *play) {
	m := saying{role: "user"}
	for _, call := range c.calls() {
		size := rapid.SampledFrom([]int{0, 0, 3, 7, 13, 27, 80}).Draw(p.T, "size")
		m.parts = append(m.parts, part{kind: "tool_result", id: call.id, text: output(call.id, size)})
	}
	c.ms = append(c.ms, m)
	c.answered = false
}

// output returns a result of so many hundreds of bytes.
func output(id string, hundreds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "result of %s\n", id)
	for i := 0; b.Len() < 100*hundreds; i++ {
		fmt.Fprintf(&b, "%s line %d: value_%d = compute(alpha)\n", id, i, i)
	}
	return b.String()
}

// turn is what a client does when the assistant is done. It reports whether it only appended.
func (c *caller) turn(p *play) bool {
	grown := true
	switch rapid.IntRange(0, 9).Draw(p.T, "turn") {
	case 0: // it goes back to an earlier answer
		c.ms = c.ms[:c.boundary(p)]
		grown = false
	case 1: // it takes away a note in an old message
		for i := range c.ms {
			if k := slices.IndexFunc(c.ms[i].parts, func(p part) bool { return p.reminder }); k >= 0 {
				c.ms[i].parts = slices.Delete(slices.Clone(c.ms[i].parts), k, k+1)
				grown = false
				break
			}
		}
	case 2: // it leaves all thinking out
		for i := range c.ms {
			c.ms[i].parts = slices.DeleteFunc(slices.Clone(c.ms[i].parts), func(p part) bool { return p.kind == "thinking" })
		}
		grown = false
	}
	c.say(p.words("then"))
	if rapid.Bool().Draw(p.T, "note") {
		last := &c.ms[len(c.ms)-1]
		last.parts = append(last.parts, part{kind: "text", text: fmt.Sprintf("<system-reminder>note %d</system-reminder>", len(c.ms)), reminder: true})
	}
	return grown
}

// boundary returns the number of messages up to and with an answer without calls.
func (c *caller) boundary(p *play) int {
	var ends []int
	for i, m := range c.ms {
		if m.role == "assistant" && !slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == "tool_use" }) {
			ends = append(ends, i+1)
		}
	}
	return rapid.SampledFrom(ends).Draw(p.T, "back to")
}

// decisions returns the decisions in the store about the conversation of an exchange.
func (s *step) decisions() []decant.Decision {
	if st := s.state(); st != nil {
		return st.Decisions
	}
	return nil
}

func (s *step) state() *store.State {
	return s.w.conversations(s.c.tenant)[s.x.header.Get("X-Decant-Conversation")]
}

// Invariant 1.
func (s *step) unchangedRequestsLeaveAsTheSameBytes() {
	if len(s.decisions()) == 0 && !bytes.Equal(s.x.body, s.x.sent) {
		s.Errorf("nothing was decided, but\n%s\n\nleft as\n%s", brief(s.T, s.x.body), brief(s.T, s.x.sent))
	}
	s.w.inspect = func(_ []byte, h http.Header) { // of the exchanges that follow
		for name := range h {
			if strings.HasPrefix(name, "X-Decant") {
				s.Errorf("the header %s has left", name)
			}
		}
	}
}

// Invariant 2.
func (s *step) whatIsSentIsTheView() {
	p, err := s.w.engine.Prepare(context.Background(), &engine.Request{Tenant: s.c.tenant, Session: s.c.session, Body: s.x.body, Count: true})
	if err != nil || p.View() == nil {
		s.Fatalf("prepare: %v, %v", err, p.Fault)
	}
	var want []string
	for _, m := range p.View().Messages {
		for _, b := range m.Blocks {
			want = append(want, fmt.Sprintf("%s %s %s %s", m.Role, b.Kind, b.CallID, b.Text()))
		}
	}
	if got := blocks(s.T, asRead(s.T, s.x.sent)); !slices.Equal(got, want) {
		s.Errorf("(-the view, +what is sent, as it is read)\n%.5000s", cmp.Diff(want, got))
	}
}

// Invariant 3.
func (s *step) everyBlockIsOneOfFour() {
	key := store.Key{Tenant: s.c.tenant, ID: s.x.header.Get("X-Decant-Conversation")}
	s.w.engine.Close()
	tr, err := archive.ReadTranscript(context.Background(), s.w.db, key, store.Newest)
	if err != nil {
		s.Fatal(err)
	}
	view, err := tr.View()
	if err != nil {
		s.Fatal(err)
	}
	f := fates{seen: map[decant.Ref]*decant.Block{}, edits: map[decant.Ref]decant.Decision{}}
	f.read(view, tr.State.Live())
	for _, m := range tr.Conversation.Messages {
		for i := range m.Blocks {
			if wrong := f.of(&m.Blocks[i]); wrong != "" {
				s.Errorf("block %d of m%d (%s): %s", i, m.Number, m.Blocks[i].Kind, wrong)
			}
		}
	}
}

// fates knows what became of the blocks of a transcript.
type fates struct {
	seen  map[decant.Ref]*decant.Block
	edits map[decant.Ref]decant.Decision
	cover *decant.Checkpoint
}

func (f *fates) read(view *decant.Conversation, ds []decant.Decision) {
	for _, m := range view.Messages {
		for i := range m.Blocks {
			if b := &m.Blocks[i]; b.Ref.Message > 0 {
				f.seen[b.Ref] = b
			}
		}
	}
	revoked := map[string]bool{}
	for _, d := range ds {
		revoked[d.Revokes] = true
	}
	for _, d := range ds {
		switch {
		case revoked[d.ID] || d.Kind == decant.Revoke || d.Kind == decant.Insert:
		case d.Checkpoint != nil:
			f.cover = d.Checkpoint
		default:
			f.edits[d.Target.Ref] = d
		}
	}
}

// of returns what is wrong with a block, empty when it is verbatim, replaced, dropped or covered.
func (f *fates) of(b *decant.Block) string {
	v, d := f.seen[b.Ref], f.edits[b.Ref]
	covered := f.cover != nil && b.Ref.Message >= f.cover.From && b.Ref.Message <= f.cover.To
	switch {
	case covered && v != nil:
		return "it is covered and in the view"
	case covered:
		return ""
	case d.Kind == decant.DropThinking && v != nil:
		return "it is dropped and in the view"
	case d.Kind == decant.DropThinking:
		return ""
	case v == nil:
		return "it is not in the view and nobody has decided so"
	case d.Kind == "" && v.Text() != b.Text():
		return "it was changed and nobody has decided so"
	case d.Kind != "" && v.Text() != d.Text:
		return "it is not what its newest edit says"
	}
	return ""
}

// Invariant 4.
func (s *step) everyDecisionExpandsToItsOriginal() {
	st := s.state()
	if st == nil {
		s.Fatalf("conversation %q is not in the store", s.x.header.Get("X-Decant-Conversation"))
	}
	for _, d := range st.Decisions {
		if d.Checkpoint != nil || d.Target.Message == 0 {
			continue
		}
		blobs, err := s.w.db.Blobs(context.Background(), s.c.tenant, d.Target.Hash)
		if err != nil {
			s.Fatalf("original of %s: %v", d.ID, err)
		}
		if len(d.Text) > len(blobs[0]) && d.Kind != decant.Native && d.Kind != decant.Insert { // the provider's text; a text more
			s.Errorf("decision %s (%s) replaces %d bytes by %d", d.ID, d.Reduction, len(blobs[0]), len(d.Text))
		}
	}
	if got, want := s.transcript(st), s.c.said(); !strings.HasPrefix(got, want) {
		s.Errorf("the store has\n%.3000s\nthe client has\n%.3000s", got, want)
	}
}

// said returns everything in the client's conversation but thinking.
func (c *caller) said() string {
	var b strings.Builder
	for _, m := range c.ms {
		for _, p := range m.parts {
			if p.kind != "thinking" {
				fmt.Fprintf(&b, "%s %s %s\n", m.role, p.id, p.text)
			}
		}
	}
	return b.String()
}

func (s *step) transcript(st *store.State) string {
	var b strings.Builder
	for _, e := range st.Chain {
		if e.Kind == decant.KindThinking {
			continue
		}
		text, err := s.w.db.Blobs(context.Background(), s.c.tenant, e.Text)
		if err != nil {
			s.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %s\n", e.Role, e.CallID, text[0])
	}
	return b.String()
}

// Invariant 5.
func (s *step) everyViewIsLegal() {
	if s.x.status != http.StatusOK {
		s.Fatalf("status %d: %s\nsent:\n%s", s.x.status, s.x.answer, brief(s.T, s.x.sent))
	}
}

// Invariants 6 and 9: a fresh engine on the same store sends the same bytes, and has nothing to decide, as everything was
// committed when the bytes left.
func (s *step) anyNodeSendsTheSameBytes() {
	c := s.c
	s.w.engine.Close() // what was answered is in the store
	e := s.w.newEngine()
	defer e.Close()
	p, err := e.Prepare(context.Background(), &engine.Request{Tenant: c.tenant, Session: c.session, Body: s.x.body, Count: true})
	switch {
	case err != nil || p.Fault != nil:
		s.Errorf("prepare: %v, %v", err, p)
	case !bytes.Equal(p.Body, s.x.sent):
		s.Errorf("another node sends (%s)\n%s\n\ninstead of\n%s", p.Report.Relation, brief(s.T, p.Body), brief(s.T, s.x.sent))
	case len(p.Report.Decisions) > 0:
		s.Errorf("another node decides anew: %+v", p.Report.Decisions)
	}
	q, err := s.w.engine.Prepare(context.Background(), &engine.Request{Tenant: c.tenant, Session: c.session, Body: s.x.body, Count: true})
	switch {
	case err != nil || q.Fault != nil:
		s.Errorf("prepare: %v, %v", err, q)
	case q.Report.Before != p.Report.Before:
		s.Errorf("another node meters it (%s) at %d tokens, this one (%s) at %d", p.Report.Relation, p.Report.Before, q.Report.Relation, q.Report.Before)
	}
}

// Invariant 7.
func (s *step) viewsGrowAtTheirEnd() {
	if poured := s.poured(); poured || s.before == nil {
		return // from here on it grows again
	}
	a, b := blocks(s.T, s.before), blocks(s.T, s.x.sent)
	if len(b) < len(a) || !slices.Equal(a, b[:len(a)]) {
		s.Errorf("without a pour the view changed from\n%s\n\nto\n%s", brief(s.T, s.before), brief(s.T, s.x.sent))
	}
}

// poured reports whether decisions about what was sent before have been made since it was looked last.
func (s *step) poured() (out bool) {
	was := s.c.decided
	s.c.decided = map[string]bool{}
	for _, d := range s.decisions() {
		s.c.decided[d.ID] = true
		if d.Checkpoint != nil || d.Target.Message <= s.known && d.Target.Message > 0 {
			out = out || !was[d.ID]
		}
	}
	return out
}

// brief returns a body as a list of its blocks, shortened.
func brief(t *rapid.T, body []byte) string {
	var out []string
	for _, b := range blocks(t, body) {
		if len(b) > 150 {
			b = fmt.Sprintf("%s ... (%d bytes)", b[:150], len(b))
		}
		out = append(out, strings.ReplaceAll(b, "\n", "|"))
	}
	return strings.Join(out, "\n")
}

// asRead returns a body as the provider's context editing leaves it, read anew from what the API says about it
// and not by the engine's own means.
func asRead(t *rapid.T, body []byte) []byte {
	var q struct {
		Context struct {
			Edits []struct {
				Type   string         `json:"type"`
				Keep   jsontext.Value `json:"keep"`
				Names  []string       `json:"exclude_tools"`
				Inputs []string       `json:"clear_tool_inputs"`
			} `json:"edits"`
		} `json:"context_management"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	d, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range q.Context.Edits {
		if e.Type != "clear_tool_uses_20250919" {
			continue
		}
		var keep struct {
			Value int `json:"value"`
		}
		if err := json.Unmarshal(e.Keep, &keep); err != nil {
			t.Fatal(err)
		}
		body = cleared(t, d, keep.Value, e.Names, e.Inputs)
	}
	return body
}

// cleared returns a document without the results of all but the newest calls.
func cleared(t *rapid.T, d *wire.Document, keep int, excluded, inputs []string) []byte {
	type call struct{ use, result decant.Ref }
	var calls []call
	var names []string
	ms := slices.Clone(d.Conversation.Messages)
	for i := range ms {
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k, b := range ms[i].Blocks {
			if b.Kind == decant.KindUse {
				calls, names = append(calls, call{use: decant.Ref{Message: i, Block: k}}), append(names, b.Name)
			}
			for c := range calls {
				if use := ms[calls[c].use.Message].Blocks[calls[c].use.Block]; b.Kind == decant.KindResult && use.CallID == b.CallID {
					calls[c].result = decant.Ref{Message: i, Block: k}
				}
			}
		}
	}
	for c := range calls[:max(0, len(calls)-keep)] {
		if slices.Contains(excluded, names[c]) {
			continue
		}
		b := &ms[calls[c].result.Message].Blocks[calls[c].result.Block]
		b.Content, b.Changed = decant.Text("[Old tool result content cleared]"), "the provider"
		if slices.Contains(inputs, names[c]) {
			b := &ms[calls[c].use.Message].Blocks[calls[c].use.Block]
			b.Content, b.Changed = decant.Text("{}"), "the provider"
		}
	}
	out, err := d.Render(d.Conversation.With(ms))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// blocks returns the blocks of a body in canonical words.
func blocks(t *rapid.T, body []byte) (out []string) {
	d, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Conversation.Messages {
		for _, b := range m.Blocks {
			out = append(out, fmt.Sprintf("%s %s %s %s", m.Role, b.Kind, b.CallID, b.Text()))
		}
	}
	return out
}

// Invariant 8.
func (s *step) viewsFitTheWindow() {
	if e := s.w.sandbox.Log.Last(); e.Prompt > worldWindow {
		s.Errorf("%d tokens were sent, the window has %d", e.Prompt, worldWindow)
	}
	if f := s.x.header.Get("X-Decant-Fault"); f != "" {
		s.Errorf("fault: %s", f)
	}
}

// Invariant 10.
func (s *step) askingWritesNothing() {
	before := versions(s)
	_, err := s.w.engine.Prepare(context.Background(), &engine.Request{Tenant: s.c.tenant, Session: s.c.session, Body: s.x.body, Count: true})
	if err != nil {
		s.Error(err)
	}
	if after := versions(s); before != after {
		s.Errorf("counting tokens changed the store from %s to %s", before, after)
	}
}

func versions(s *step) string {
	var out []string
	for id, st := range s.w.conversations(s.c.tenant) {
		out = append(out, fmt.Sprintf("%s@%d", id, st.Version))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Invariant 11.
func (s *step) tenantsSeeNothingOfEachOther() {
	mine, others := s.w.conversations(s.c.tenant), s.w.conversations(map[string]string{"": "t1", "t1": ""}[s.c.tenant])
	id := s.x.header.Get("X-Decant-Conversation")
	if id != "" && mine[id] == nil {
		s.Errorf("conversation %s is not one of tenant %q", id, s.c.tenant)
	}
	for other := range others {
		if mine[other] != nil || other == id {
			s.Errorf("conversation %s belongs to two tenants", other)
		}
	}
}
