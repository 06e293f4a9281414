package engine_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/sandbox"
)

const (
	pictured  = `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}},{"type":"text","text":"Look at the picture. The port is 8443."`
	otherTool = `,{"name":"NotebookEdit","input_schema":{"type":"object"}}`
)

// newRetooled returns a client of a model that binds its thinking, in the middle of a turn with an image, whose next request
// has a tool more. A pour for money would be due.
func newRetooled(t *testing.T, o engine.Options, s sandbox.Options) *binder {
	o.Window, s.Window = 100_000, 100_000
	s.Model = &sandbox.Rules{Calls: 10_000, Thought: 400, OutputKB: 8}
	b := newBinder(t, o, s)
	b.ms[0] = pictured + `}]}`
	for range 3 {
		b.next()
	}
	if n := len(b.sandbox.Log.Refused()); n > 0 {
		t.Fatalf("%d requests were refused before the tools changed", n)
	}
	b.tools = bashTool + otherTool
	return b
}

// warned reports whether people were told of a fold.
func (b *binder) warned() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(strings.Join(b.notices, "\n"), "messages were made one of text")
}

// refused sends requests and returns what was refused of them.
func (b *binder) refused(requests int) (out []string) {
	b.Helper()
	before := len(b.sandbox.Log.Refused())
	for range requests {
		b.next()
	}
	for _, e := range b.sandbox.Log.Refused()[before:] {
		out = append(out, e.Error)
	}
	return out
}

// Tools that change in front of bound thinking cost the request its thinking at most: it is left out where the provider
// takes that, for good, and everything else stays as it was.
func TestChangedToolsCostTheThinking(t *testing.T) {
	b := newRetooled(t, engine.Options{}, sandbox.Options{ForgetAnswers: true})
	want := parse(t, b.body())
	if refused := b.refused(1); len(refused) != 1 || !strings.Contains(refused[0], "tools have changed") || b.last.Report.Route != "drop thinking" {
		t.Fatalf("refused %q, then accepted by the route %q", refused, b.last.Report.Route)
	}
	got := parse(t, b.last.Body)
	if got.Has(decant.KindThinking) || len(got.Messages) != len(want.Messages) || !strings.Contains(string(b.last.Body), pictured) {
		t.Errorf("sent:\n%.600s", b.last.Body)
	}
	for i := range want.Messages {
		if want.Messages[i].Text(decant.KindText, decant.KindUse, decant.KindResult) != got.Messages[i].Text(decant.KindText, decant.KindUse, decant.KindResult) {
			t.Errorf("message %d is another", i)
		}
	}
	if refused := b.refused(3); len(refused) > 0 || b.warned() {
		t.Errorf("later refused: %q; warned: %t", refused, b.warned())
	}
}

// Where the provider insists on the thinking of a turn under way, that turn becomes text: what the user has said and
// shown stays as it was, the turns before stay, and people are told. It is tried once.
func TestChangedToolsFoldTheTurnAtWorst(t *testing.T) {
	b := newRetooled(t, engine.Options{}, sandbox.Options{})
	b.says("Done.")
	b.user("And now part two.")
	b.tools = bashTool
	b.next()
	first := strings.Join(b.ms[1:3], ",")
	b.next()
	b.tools = bashTool + otherTool
	refused := b.refused(1)
	if len(refused) != 2 || !strings.Contains(refused[0], "tools have changed") || !strings.Contains(refused[1], "cannot be modified") {
		t.Fatalf("refused %q", refused)
	}
	if r := b.last.Report; r.Reason != policy.Refusal || r.Route != "fold of the turn" || !b.warned() {
		t.Errorf("accepted by the route %q (%s); warned: %t", r.Route, r.Reason, b.warned())
	}
	call := parse(t, []byte(`{"messages":[`+first+`]}`)).Messages[0].Blocks
	for _, kept := range []string{pictured, "And now part two.", call[len(call)-1].CallID} {
		if !bytes.Contains(b.last.Body, []byte(kept)) {
			t.Errorf("%q is gone:\n%.600s", kept, b.last.Body)
		}
	}
	cp := decant.CheckpointIn(b.last.Report.Decisions)
	if cp == nil || cp.From <= 8 || cp.Lost != 0 || !strings.Contains(cp.Summary, "call_") && !strings.Contains(cp.Summary, "tool") {
		t.Errorf("%+v", cp)
	}
	if refused := b.refused(3); len(refused) > 0 {
		t.Errorf("later refused: %q", refused)
	}
	b.tools = bashTool
	if refused := b.refused(1); len(refused) != 1 {
		t.Errorf("what is known not to be taken was tried again: %q", refused)
	}
}

// A picture that a fold of a turn covers goes along.
func TestAFoldForARefusalKeepsPictures(t *testing.T) {
	b := newRetooled(t, engine.Options{}, sandbox.Options{})
	last := &b.ms[2]
	*last = strings.Replace(*last, `"content":"`, `"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEUlEQVR42mNk+M9QzwAEjDAGACcCAgFFK0UKAAAAAElFTkSuQmCC"}},{"type":"text","text":"`, 1)
	*last = strings.TrimSuffix(*last, `}]}`) + `}]}]}`
	b.refused(1)
	if n := bytes.Count(b.last.Body, []byte(`"type":"image"`)); n != 2 || b.last.Report.Route != "fold of the turn" {
		t.Errorf("%d images by the route %q", n, b.last.Report.Route)
	}
}

// Where the engine may ask for it, the provider drops what does not fit: in that request and all later ones of the conversation,
// on every node. Nothing else changes.
func TestChangedToolsWithDropBlock(t *testing.T) {
	o := engine.Options{Adds: engine.Adds{DropBlock: true}}
	b := newRetooled(t, o, sandbox.Options{})
	if refused := b.refused(1); len(refused) != 1 || b.last.Report.Route != "thinking dropped by the provider" {
		t.Fatalf("refused %q, then accepted by the route %q", refused, b.last.Report.Route)
	}
	for n := range 6 {
		if n == 2 { // another node takes over
			o.Window, o.Preset = 100_000, oneSize()
			b.start(o)
		}
		if n == 4 {
			b.tools = bashTool
		}
		want := strings.Replace(string(b.body()), `"thinking":{"type":"adaptive"}`, `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`, 1)
		if refused := b.refused(1); len(refused) > 0 {
			t.Fatalf("request %d: refused %q", n, refused)
		}
		if b.last.Report.Reason == "" && string(b.last.Body) != want {
			t.Errorf("request %d:\n%.300s\nwant\n%.300s", n, b.last.Body, want)
		}
		if decant.CheckpointIn(b.state().Decisions) != nil {
			t.Fatalf("request %d: history is covered", n)
		}
	}
}

// A form of ours that the provider does not take for another reason is not what its client hears of: the next is tried.
func TestTheLadderGoesOnWhateverIsRefused(t *testing.T) {
	b := newRetooled(t, engine.Options{Adds: engine.Adds{DropBlock: true}}, sandbox.Options{ForgetAnswers: true})
	b.refuses = "block_binding"
	if status, answer := b.send(); status != http.StatusOK || b.last.Report.Route != "drop thinking" {
		t.Errorf("status %d, by the route %q: %s", status, b.last.Report.Route, answer)
	}
}

// At the end of a turn thinking may go, so nothing but thinking does.
func TestChangedToolsBetweenTurns(t *testing.T) {
	for _, drop := range []bool{false, true} {
		b := newRetooled(t, engine.Options{Adds: engine.Adds{DropBlock: drop}, NoEarlyPours: true}, sandbox.Options{})
		b.says("Done.")
		b.user("And now part two.")
		refused := b.refused(1)
		got := parse(t, b.last.Body)
		if len(refused) != 1 || len(got.Messages) != len(parse(t, b.body()).Messages)-2 || got.Has(decant.KindThinking) != drop {
			t.Errorf("drop_block %t: refused %q, then %d messages by the route %q", drop, refused, len(got.Messages), b.last.Report.Route)
		}
		if refused := b.refused(2); len(refused) > 0 {
			t.Errorf("drop_block %t: later refused %q", drop, fmt.Sprint(refused))
		}
	}
}
