package dialecttest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/wire"
)

// same checks that a body says what doc says, and returns it as a document.
func same(t *testing.T, d dialect.Dialect, doc *wire.Document, body []byte) *wire.Document {
	t.Helper()
	again, err := d.Parse(body)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if !slices.Equal(conversation(doc.Conversation), conversation(again.Conversation)) {
		t.Error("something in the messages is different")
	}
	return again
}

// drop checks how a provider is asked to drop thinking that does not fit.
func drop(t *testing.T, d dialect.Dialect, doc *wire.Document) {
	p, ok := d.(dialect.Dropper)
	if !ok {
		t.Skip("the dialect is no dialect.Dropper")
	}
	params, _, ok := p.Drop(doc.Source)
	if !ok {
		if p.Unfit(doc) == dialect.UnfitUnsaid && doc.Conversation.Thinking != "" &&
			doc.Conversation.Thinking != decant.ThinkingOff {
			t.Error("the request thinks and does not say what becomes of thinking that does not fit, and it cannot be said for it")
		}
		return
	}
	if p.Unfit(doc) != dialect.UnfitUnsaid {
		t.Error("a request is made to drop thinking that says itself what becomes of it")
	}
	again := same(t, d, doc, p.WithParams(doc.Source, params))
	if got := p.Unfit(again); got != dialect.UnfitDropped {
		t.Errorf("the request that was made to drop thinking says %d", got)
	}
	if _, _, ok := p.Drop(again.Source); ok {
		t.Error("a request is made to drop thinking twice")
	}
}

// clearing checks how a provider is asked to leave the oldest result out.
func clearing(t *testing.T, d dialect.Dialect, doc *wire.Document) {
	p, ok := d.(dialect.Clearer)
	if !ok {
		t.Skip("the dialect is no dialect.Clearer")
	}
	if c, ok := p.Clearing(doc.Conversation, func(string) bool { return false }); c != nil || !ok {
		t.Errorf("for a view without native decisions the provider is asked for %v, %t", c, ok)
	}
	if !p.Clears(doc, doc.Conversation) {
		return
	}
	const id = "native"
	view := withoutOldest(doc.Conversation, id)
	if view == nil {
		return
	}
	c, ok := p.Clearing(view, func(changed string) bool { return changed == id })
	if !ok || c == nil || c.Results() != 1 {
		t.Fatalf("the provider cannot be asked to leave the oldest result out: %v, %t", c, ok)
	}
	body, err := c.Ask(doc.Source)
	if err != nil {
		t.Fatal(err)
	}
	if again := same(t, d, doc, body); d.Edits(again) != dialect.Clearing || bytes.Equal(body, doc.Source) {
		t.Error("the request does not ask for a clearing")
	}
}

// withoutOldest returns a view in which a decision has changed the result of the first call, or nil without a
// call.
func withoutOldest(c *decant.Conversation, id string) *decant.Conversation {
	ms, call := slices.Clone(c.Messages), ""
	for i := range ms {
		for k := range ms[i].Blocks {
			switch b := &ms[i].Blocks[k]; {
			case call == "" && b.Kind == decant.KindUse:
				call = b.CallID
			case call != "" && b.Kind == decant.KindResult && b.CallID == call:
				ms[i].Blocks = slices.Clone(ms[i].Blocks)
				ms[i].Blocks[k].Changed = id
				return c.With(ms)
			}
		}
	}
	return nil
}
