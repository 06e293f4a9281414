package dialecttest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/wire"
)

// runBody checks how a request is read.
func runBody(t *testing.T, d dialect.Dialect, body []byte) {
	before := slices.Clone(body)
	doc, err := d.Parse(body)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if doc.Format != d.About().Format {
		t.Errorf("Parse reads the format %s, About says %s", doc.Format, d.About().Format)
	}
	if len(doc.Conversation.Messages) == 0 {
		t.Fatal("the body has no messages, so that it tests nothing")
	}
	t.Run("Identity", func(t *testing.T) { identity(t, d, doc) })
	t.Run("Rewritten", func(t *testing.T) { rewritten(t, d, doc) })
	t.Run("Assemble", func(t *testing.T) { assemble(t, d, doc) })
	t.Run("Dropper", func(t *testing.T) { drop(t, d, doc) })
	t.Run("Clearer", func(t *testing.T) { clearing(t, d, doc) })
	if !bytes.Equal(body, before) {
		t.Error("the body was written to")
	}
}

// said is what a block says, however it is written.
type said struct {
	role       decant.Role
	kind       decant.Kind
	text       string
	call, name string
}

func saidBy(m *decant.Message, b *decant.Block) said {
	return said{m.Role, b.Kind, b.Text(), b.CallID, b.Name}
}

// conversation returns what the blocks of a conversation say, in order.
func conversation(c *decant.Conversation) (out []said) {
	for i := range c.Messages {
		for k := range c.Messages[i].Blocks {
			out = append(out, saidBy(&c.Messages[i], &c.Messages[i].Blocks[k]))
		}
	}
	return out
}

// identities returns the identities of the blocks of a request, in order.
func identities(d dialect.Dialect, doc *wire.Document) (out []decant.Hash) {
	for i := range doc.Conversation.Messages {
		for k := range doc.Conversation.Messages[i].Blocks {
			out = append(out, d.Identity(doc.Raw(doc.Conversation.Messages[i].Blocks[k].Ref)))
		}
	}
	return out
}

// identity checks that a block is the same however it is written, and another one when it says something else.
func identity(t *testing.T, d dialect.Dialect, doc *wire.Document) {
	known := map[decant.Hash]said{}
	for i := range doc.Conversation.Messages {
		m := &doc.Conversation.Messages[i]
		for k := range m.Blocks {
			b := &m.Blocks[k]
			raw := doc.Raw(b.Ref)
			id := d.Identity(raw)
			if id.IsZero() {
				t.Fatalf("message %d, block %d has no identity", m.Number, k)
			}
			if again := rewrite(t, raw); d.Identity(again) != id {
				t.Errorf("message %d, block %d: written otherwise it is another block:\n%.300s\n%.300s", m.Number, k, raw, again)
			}
			now := saidBy(m, b)
			if was, ok := known[id]; ok && (was.kind != now.kind || was.text != now.text || was.call != now.call) {
				t.Errorf("message %d, block %d: two blocks have one identity:\n%.300v\n%.300v", m.Number, k, was, now)
			}
			known[id] = now
		}
	}
}

// rewrite returns a JSON value as another encoder might have written it: with other spacing and escapes, and
// the members of its objects in another order.
func rewrite(t *testing.T, raw []byte) []byte {
	t.Helper()
	v := jsontext.Value(bytes.ToValidUTF8(slices.Clone(raw), []byte("\ufffd")))
	err := v.Format(jsontext.AllowDuplicateNames(true), jsontext.Multiline(true), jsontext.ReorderRawObjects(true),
		jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		t.Fatalf("rewrite %.100s: %v", raw, err)
	}
	return v
}

// rewritten checks that a whole request is the same however it is written.
func rewritten(t *testing.T, d dialect.Dialect, doc *wire.Document) {
	again, err := d.Parse(rewrite(t, doc.Source))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if !slices.Equal(identities(d, doc), identities(d, again)) {
		t.Error("the blocks of a request are others when it is written otherwise")
	}
	if d.Session(doc) != d.Session(again) || d.Edits(doc) != d.Edits(again) {
		t.Error("a request has another session, or asks for other edits, when it is written otherwise")
	}
}

// partsOf takes a request apart.
func partsOf(d dialect.Dialect, doc *wire.Document) *dialect.Parts {
	p := &dialect.Parts{Model: doc.Conversation.Model, Params: doc.Frame()}
	p.System, p.Tools = d.Fixed(doc)
	for i := range doc.Conversation.Messages {
		m := &doc.Conversation.Messages[i]
		out := dialect.Message{Role: m.Role}
		for k := range m.Blocks {
			out.Blocks = append(out.Blocks, dialect.Block{Kind: m.Blocks[k].Kind, Bytes: doc.Raw(m.Blocks[k].Ref)})
		}
		p.Messages = append(p.Messages, out)
	}
	return p
}

// assemble checks that a request that was taken apart and put together says the same.
func assemble(t *testing.T, d dialect.Dialect, doc *wire.Document) {
	p := partsOf(d, doc)
	body := d.Assemble(p)
	again, err := d.Parse(body)
	if err != nil {
		t.Fatalf("Parse(Assemble): %v", err)
	}
	if !bytes.Equal(body, d.Assemble(p)) {
		t.Error("Assemble writes the same parts in two ways")
	}
	if !slices.Equal(conversation(doc.Conversation), conversation(again.Conversation)) ||
		!slices.Equal(identities(d, doc), identities(d, again)) {
		t.Error("Assemble loses something of the messages")
	}
	was, is := doc.Conversation, again.Conversation
	if was.Model != is.Model || was.MaxOutput != is.MaxOutput || was.Thinking != is.Thinking ||
		len(was.Fixed.System) != len(is.Fixed.System) || len(was.Fixed.Tools) != len(is.Fixed.Tools) {
		t.Error("Assemble loses something of parameters, system prompt or tools")
	}
	p.Params, p.System, p.Tools = nil, nil, nil
	if again, err = d.Parse(d.Assemble(p)); err != nil || again.Conversation.Model != was.Model {
		t.Errorf("without parameters Assemble gives a request for the model %q (%v), want %q", again.Conversation.Model,
			err, was.Model)
	}
}

// noBody checks that what is no request is an error.
func noBody(t *testing.T, d dialect.Dialect) {
	for _, body := range []string{"", "null", "[]", `"text"`, "{", "<html>"} {
		if _, err := d.Parse([]byte(body)); err == nil {
			t.Errorf("Parse takes %q for a request", body)
		}
	}
}
