package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/wire"
)

// An inquirer makes own calls.
type inquirer struct {
	post   func(r *provider.Request) (status int, answer string)
	asked  []*provider.Request
	causes []owncalls.Cause
	fails  error
	says   []byte // in place of what is answered, nil: that
}

// Ask implements owncalls.Asker.
func (q *inquirer) Ask(_ context.Context, c owncalls.Cause, r *provider.Request) (*provider.Answer, error) {
	q.asked, q.causes = append(q.asked, r), append(q.causes, c)
	if q.fails != nil {
		return nil, q.fails
	}
	status, body := q.post(r)
	if status != http.StatusOK {
		return nil, &provider.Failure{Status: status, Message: body, Refused: true}
	}
	read := anthropic.Dialect{}.ReadAnswer(func(int) bool { return true })
	read.Object([]byte(body))
	a := read.Answer()
	if q.says != nil {
		a.Content = q.says
	}
	return &provider.Answer{Content: a.Content, Stop: a.Stop, Usage: a.Usage.Add(a.Extra)}, nil
}

// newCompacter returns a client of a model that binds its thinking, whose engine may ask for summaries.
func newCompacter(t *testing.T, o engine.Options) (*binder, *inquirer) {
	q := &inquirer{}
	o.Models.Asker, o.NoEarlyPours = q, true
	o.Window = cmp.Or(o.Window, 2*dialogueWindow) // a summary of the provider's is not much shorter in a small one
	b := newBinder(t, o, sandbox.Options{Window: o.Window})
	q.post = b.ask
	return b, q
}

// ask makes an own call about the dialogue.
func (k *dialogue) ask(r *provider.Request) (status int, answer string) {
	own := *k
	own.betas = r.Betas
	return own.post(&engine.Prepared{Body: r.Body})
}

const compacted = "compacted by the provider"

// A pour may be the provider's own summary: its block stands first, byte for byte, thinking behind it stays valid, and
// nothing is refused. What it lacks of what must be kept stands once behind the newest results.
func TestOnDemandCompaction(t *testing.T) {
	b, q := newCompacter(t, engine.Options{})
	b.until(compacted)
	if len(q.asked) != 1 || q.causes[0].Purpose != owncalls.ForCompaction || q.causes[0].Conversation.ID != b.last.Conversation || q.causes[0].Upstream != "https://provider" {
		t.Fatalf("asked %d times, for %+v", len(q.asked), q.causes)
	}
	cp := decant.CheckpointIn(b.state().Decisions)
	if cp == nil || cp.Rung != decant.RungNative || cp.From != 1 || cp.Source == "" || cp.Summary == "" || cp.Number != 1 || cp.CostUSD <= 0 {
		t.Fatalf("%+v", cp)
	}
	if got := b.last.Report.After; got > b.last.Report.Before*2/3 {
		t.Errorf("%d tokens became %d", b.last.Report.Before, got)
	}
	if !strings.Contains(string(b.last.Body), `"messages":[{"role":"assistant","content":[`+cp.Source+`]}`) {
		t.Errorf("the block is not first:\n%.600s", b.last.Body)
	}
	if !strings.Contains(string(b.last.Body), "/etc/vault.conf") {
		t.Error("what the user said is gone")
	}
	first := string(b.last.Body)
	for range 3 {
		b.next()
		if b.last.Report.Reason != "" || !strings.HasPrefix(string(b.last.Body), first[:strings.LastIndex(first, "]")-10]) {
			t.Fatalf("request %d: %s; the view does not grow at its end", b.n, b.last.Report.Reason)
		}
		if !strings.Contains(strings.Join(b.last.Betas, ","), "compact-2026-09-04") {
			t.Errorf("betas %v", b.last.Betas)
		}
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
	b.until(compacted) // the next one summarises the first, too
	if again := decant.CheckpointIn(b.state().Decisions); again.Number != 2 || again.Folds != 1 || strings.Count(string(b.last.Body), `"type":"compaction"`) != 1 {
		t.Errorf("the second: %+v", again)
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
}

// A conversation with a provider's summary is exported with the block for its own API, which needs the beta, and with what
// can be read of it for all others.
func TestCompactionIsExported(t *testing.T) {
	b, _ := newCompacter(t, engine.Options{})
	b.until(compacted)
	b.engine.Close()
	tr, err := archive.ReadTranscript(t.Context(), b.store, store.Key{ID: b.last.Conversation}, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	view, err := tr.View()
	if err != nil {
		t.Fatal(err)
	}
	body, err := tr.Body(view)
	if err != nil || !slices.Contains(anthropic.BetasOf(body), "compact-2026-09-04") {
		t.Errorf("betas %v: %v", anthropic.BetasOf(body), err)
	}
	model, _ := catalog().Lookup(b.model)
	for name, read := range map[string]func() (*decant.Conversation, error){"readable": func() (*decant.Conversation, error) { return archive.ReadableView(tr) }, "plain": func() (*decant.Conversation, error) { return tr.PlainView(model) }} {
		c, err := read()
		if err != nil || c.Has(decant.KindOpaque) || !strings.Contains(c.Messages[0].Text(), "/etc/vault.conf") {
			t.Errorf("%s: %v\n%.300s", name, err, wire.Text(c))
		}
	}
}

// Whatever comes of the call, the next route takes over: nothing is refused, nobody waits for long, and without an asker
// nobody is asked.
func TestCompactionThatFails(t *testing.T) {
	for name, spoil := range map[string]func(q *inquirer){
		"error": func(q *inquirer) { q.fails = errors.New("the line is down") },
		"refused": func(q *inquirer) {
			q.fails = fmt.Errorf("compaction: this model does not support it: %w", provider.ErrRefused)
		},
		"empty":  func(q *inquirer) { q.says = []byte(`[]`) },
		"words":  func(q *inquirer) { q.says = []byte(`[{"type":"text","text":"I would rather not."}]`) },
		"blank":  func(q *inquirer) { q.says = []byte(`[{"type":"compaction","content":" ","signature":"c2ln"}]`) },
		"hidden": func(q *inquirer) { q.says = []byte(`[{"type":"compaction","content":null,"signature":"c2ln"}]`) },
		"broken": func(q *inquirer) { q.says = []byte(`[{"type":"compact`) },
	} {
		t.Run(name, func(t *testing.T) {
			b, q := newCompacter(t, engine.Options{})
			spoil(q)
			b.until("cleared by the provider")
			n := len(q.asked)
			if n != 1 {
				t.Errorf("asked %d times", n)
			}
			if name == "refused" {
				b.until("cleared by the provider")
				if len(q.asked) != n {
					t.Error("a provider that writes no summaries is asked again")
				}
			}
			if refused := b.sandbox.Log.Refused(); len(refused) > 0 {
				t.Errorf("refused: %s", refused[0].Error)
			}
		})
	}
}

// A summary that the provider does not take back is taken back by us, inside the same request.
func TestCompactionThatIsNotTakenBack(t *testing.T) {
	b, q := newCompacter(t, engine.Options{})
	q.says = []byte(`[{"type":"compaction","content":"Half of the work is done.","signature":"Zm9yZ2Vk"}]`)
	b.until("")
	for b.last.Report.Reason == "" {
		b.next()
	}
	if strings.Contains(string(b.last.Body), `"compaction"`) {
		t.Errorf("the summary is still there:\n%.300s", b.last.Body)
	}
	refused := b.sandbox.Log.Refused()
	if len(refused) != 1 || !strings.Contains(refused[0].Error, "compaction") {
		t.Errorf("%d refused", len(refused))
	}
	asked := len(q.asked)
	for range 12 {
		b.next()
	}
	if len(q.asked) > asked {
		t.Errorf("it is asked again: %d times", len(q.asked)-asked)
	}
}

// A laconic summariser says next to nothing.
type laconic struct{}

func (laconic) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Some of it is done."}}}, nil
}

// What a provider's summary lacks of what must be kept stands once behind the newest results: what the user said and
// forbade, and what is pinned.
func TestCompactionIsSupplemented(t *testing.T) {
	q := &inquirer{}
	b := newBinder(t, engine.Options{Models: engine.Models{Asker: q}, NoEarlyPours: true}, sandbox.Options{Summarizer: laconic{}})
	q.post = b.ask
	b.ms = nil
	b.user("Do the work. Never touch the table orders_archive. The password of the vault is in /etc/vault.conf.")
	b.next()
	b.next()
	ref := decant.Ref{Message: 3}
	c, err := b.engine.Pin(t.Context(), store.Key{ID: b.last.Conversation}, []decant.Ref{ref}, true)
	if err == nil {
		err = b.engine.Apply(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	pinned := parse(t, b.body()).Messages[2].Blocks[0].Text()
	b.until(compacted)
	added := b.live(decant.Insert)
	if len(added) != 1 || !strings.Contains(added[0].Text, "Never touch the table orders_archive.") || !strings.Contains(added[0].Text, pinned) {
		t.Fatalf("%d inserts: %+.900v", len(added), added)
	}
	cp := decant.CheckpointIn(b.state().Decisions)
	if cp.Score > 0.1 {
		t.Errorf("a summary that says nothing has the score %g", cp.Score)
	}
	last := b.last.View().Messages[len(b.last.View().Messages)-1]
	if !strings.HasSuffix(last.Text(), added[0].Text) {
		t.Errorf("it does not stand behind the newest results:\n%.300s", last.Text())
	}
	b.next()
	b.next()
	if strings.Count(string(b.last.Body), "Never touch the table orders_archive.") != 1 || strings.Count(string(b.last.Body), `"type":"compaction"`) != 1 {
		t.Error("it is not there once")
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
}

// A restart sends the same bytes; an undo sends the originals again; a branch from before the pour knows nothing of it.
func TestCompactionIsReplayedAndTakenBack(t *testing.T) {
	b, q := newCompacter(t, engine.Options{})
	b.until(compacted)
	b.next()
	before := string(b.prepare().Body)
	b.start(engine.Options{Models: engine.Models{Asker: q}, NoEarlyPours: true, Preset: oneSize()})
	if string(b.prepare().Body) != before {
		t.Error("after a restart other bytes are sent")
	}
	b.next()
	whole := b.ms
	b.ms = b.ms[:7:7]
	b.user("Do it otherwise.")
	if p := b.prepare(); strings.Contains(string(p.Body), `"type":"compaction"`) || p.Report.Relation == "continues" {
		t.Errorf("the branch (%s) has the summary", p.Report.Relation)
	}
	b.ms = whole
	b.says("That was all.")
	b.user("Thank you. Take the pour back.")
	b.mustSend()
	b.engine.Close()
	c, err := b.engine.Undo(t.Context(), store.Key{ID: b.last.Conversation})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.engine.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if p := b.prepare(); strings.Contains(string(p.Body), `"type":"compaction"`) || p.Fault != nil {
		t.Errorf("after the undo: %v\n%.300s", p.Fault, p.Body)
	}
	if status, answer := b.send(); status != http.StatusOK {
		t.Errorf("after the undo %d: %s", status, answer)
	}
}

// The block is nobody's but the provider's: the rules of presets, of the request and of the model decide whether it is
// asked for.
func TestCompactionWhereItDoesNotGo(t *testing.T) {
	local := oneSize()
	local.Native.Route = preset.RouteLocal
	for name, change := range map[string]func(*binder, *engine.Options){
		"local route": func(_ *binder, o *engine.Options) { o.Preset = local },
		"own editing": func(b *binder, _ *engine.Options) {
			b.extra = `"thinking":{"type":"adaptive"},"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":900000}}]},`
		},
		"other model": func(b *binder, _ *engine.Options) { b.model, b.extra = "claude-sonnet-4-5", "" },
	} {
		t.Run(name, func(t *testing.T) {
			b, q := newCompacter(t, engine.Options{})
			o := engine.Options{Models: engine.Models{Asker: q}, NoEarlyPours: true, Preset: oneSize()}
			change(b, &o)
			b.start(o)
			for range 14 {
				if b.next(); b.last.Report.Reason != "" {
					break
				}
			}
			if b.last.Report.Reason == "" || len(q.asked) > 0 {
				t.Errorf("poured: %s; asked %d times", b.last.Report.Route, len(q.asked))
			}
		})
	}
}
