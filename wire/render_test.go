package wire_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

func TestRenderWithoutChangesReturnsTheSameSlice(t *testing.T) {
	for name := range bodies {
		t.Run(name, func(t *testing.T) {
			d := parsed(t, name)
			out, err := d.Render(d.Conversation)
			if err != nil {
				t.Fatal(err)
			}
			if &out[0] != &d.Source[0] || len(out) != len(d.Source) {
				t.Error("got other bytes, want the source itself")
			}
			copied := d.Conversation.With(slices.Clone(d.Conversation.Messages))
			for i := range copied.Messages {
				copied.Messages[i].Blocks = slices.Clone(copied.Messages[i].Blocks)
			}
			out, err = d.Render(copied)
			if err != nil || !bytes.Equal(out, d.Source) {
				t.Errorf("a view of equal blocks is written differently (error %v)", err)
			}
		})
	}
}

// TestRenderGolden guards what each kind of change does to the bytes around it. The files show a body,
// what the view changes, and the body afterwards.
func TestRenderGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/bodies/render/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { renderGolden(t, file) })
	}
}

func renderGolden(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, changes, after := section(t, a, "before.json"), section(t, a, "changes"), section(t, a, "after.json")
	d, err := wire.Parse(before.Data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Render(change(t, d.Conversation, string(changes.Data)))
	if err != nil {
		got = []byte("error: " + err.Error() + "\n")
	} else if err := jsonspan.Validate(got); err != nil {
		t.Errorf("the result is not JSON: %v", err)
	}
	if *update {
		after.Data = got
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(after.Data), string(got)); diff != "" {
		t.Errorf("%s(-want +got):\n%s", a.Comment, diff)
	}
}

func section(t *testing.T, a *txtar.Archive, name string) *txtar.File {
	t.Helper()
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no section %s", name)
	}
	return &a.Files[i]
}

// change returns a view of c with the changes that a script asks for, one on each line:
//
//	replace m2.0 TEXT   the text of a block
//	bare m2.0 TEXT      the same, and the images in it go
//	drop m2.0           a block
//	drop m2             a message
//	insert m2 ROLE TEXT a message of Decant's before m2
//	append m2 TEXT      a block of Decant's at the end of m2
//	move m3.0 m2        a block to the end of another message
func change(t *testing.T, c *decant.Conversation, script string) *decant.Conversation {
	t.Helper()
	v := c.With(slices.Clone(c.Messages))
	for line := range strings.Lines(script) {
		op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		place, text, _ := strings.Cut(rest, " ")
		name, index, _ := strings.Cut(place, ".")
		i := slices.IndexFunc(v.Messages, func(m decant.Message) bool { return m.Name() == name })
		if i < 0 {
			t.Fatalf("%s: no such message", line)
		}
		m := &v.Messages[i]
		m.Blocks = slices.Clone(m.Blocks)
		k := -1
		if n, err := strconv.Atoi(index); err == nil {
			k = slices.IndexFunc(m.Blocks, func(b decant.Block) bool { return b.Ref.Block == n })
		}
		switch {
		case op == "replace" || op == "bare":
			m.Blocks[k].Content, m.Blocks[k].Changed = decant.Text(text), "d1"
			if op == "bare" {
				m.Blocks[k].Media = decant.Media{}
			}
		case op == "drop" && k >= 0:
			m.Blocks = slices.Delete(m.Blocks, k, k+1)
		case op == "drop":
			v.Messages = slices.Delete(v.Messages, i, i+1)
		case op == "insert":
			role, text, _ := strings.Cut(text, " ")
			v.Messages = slices.Insert(v.Messages, i, decant.Message{Role: decant.Role(role), Blocks: []decant.Block{ours(text)}})
		case op == "append":
			m.Blocks = append(m.Blocks, ours(text))
		case op == "move":
			b := m.Blocks[k]
			m.Blocks = slices.Delete(m.Blocks, k, k+1)
			to := &v.Messages[slices.IndexFunc(v.Messages, func(m decant.Message) bool { return m.Name() == text })]
			to.Blocks = append(slices.Clone(to.Blocks), b)
		default:
			t.Fatalf("%s: not a change", line)
		}
	}
	v.Messages = slices.DeleteFunc(v.Messages, func(m decant.Message) bool { return len(m.Blocks) == 0 })
	return v
}

// ours returns a text block that Decant wrote.
func ours(text string) decant.Block {
	return decant.Block{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text(text)}
}

// TestRenderThenParseEqualsTheView is invariant 2 of the design: whatever a view changes, reading what
// was written for it gives the view.
func TestRenderThenParseEqualsTheView(t *testing.T) {
	for name := range bodies {
		d := parsed(t, name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				view := anyView(t, d.Conversation)
				out, err := d.Render(view)
				if err != nil {
					t.Fatal(err)
				}
				again, err := wire.ParseAs(d.Format, out)
				if err != nil {
					t.Fatalf("what was written cannot be read: %v", err)
				}
				want, got := said(view), said(again.Conversation)
				if !slices.Equal(want, got) { // a diff of a whole session is slow to make
					t.Fatalf("(-view +read again):\n%s", cmp.Diff(want, got))
				}
			})
		})
	}
}

// anyView draws a view: messages and blocks left out, texts replaced, messages and texts of ours added.
// The first message stays, because a system message that comes first would be the system prompt.
func anyView(t *rapid.T, c *decant.Conversation) *decant.Conversation {
	often := rapid.IntRange(1, 10).Draw(t, "one in")
	now := func(what string) bool { return rapid.IntRange(1, often).Draw(t, what) == 1 }
	var out []decant.Message
	for i, m := range c.Messages {
		if i > 0 && now("drop message") {
			continue
		}
		if now("insert") {
			out = append(out, decant.Message{Role: decant.RoleUser, Blocks: []decant.Block{ours(anyText(t))}})
		}
		m.Blocks = anyBlocks(t, m, now)
		if len(m.Blocks) > 0 {
			out = append(out, m)
		}
	}
	return c.With(out)
}

func anyBlocks(t *rapid.T, m decant.Message, now func(string) bool) []decant.Block {
	var out []decant.Block
	for k, b := range m.Blocks {
		if k > 0 && now("drop block") {
			continue
		}
		if (b.Kind == decant.KindText || b.Kind == decant.KindResult) && now("replace") {
			b.Content, b.Changed = decant.Text(anyText(t)), "d1"
		}
		out = append(out, b)
		if m.Role == decant.RoleUser && now("append") {
			out = append(out, ours(anyText(t)))
		}
	}
	return out
}

// anyText draws a text that is not empty, because an empty text of an assistant that has calls is no
// block when it is read again.
func anyText(t *rapid.T) string {
	return rapid.SampledFrom([]string{"short", "two\nlines", `quo"te \ back`, "é 漢字 \u2028", "<tag>&"}).Draw(t, "text")
}

// said lists what a conversation says, so that two can be compared that were read from different bytes.
// Neighbouring messages of the assistant count as one, because that is how items are read. The tool's
// name on a result is left out: it belongs to the call, which a view may leave out.
func said(c *decant.Conversation) []string {
	var out []string
	last := decant.Role("")
	for _, m := range c.Messages {
		if m.Role != decant.RoleAssistant || last != m.Role {
			out = append(out, "== "+string(m.Role))
		}
		last = m.Role
		for _, b := range m.Blocks {
			out = append(out, fmt.Sprintf("%s id=%q error=%v signed=%v media=%d %q", b.Kind, b.CallID, b.Error, b.Signed, b.Media.Count, b.Text()))
		}
	}
	return out
}

func TestRenderRefusesViewsOfOtherConversations(t *testing.T) {
	d := parsed(t, "anthropic-session.json")
	ms := d.Conversation.Messages
	tests := []struct {
		name string
		view []decant.Message
		want string
	}{
		{"UnknownMessage", []decant.Message{{Number: 10_000, Role: decant.RoleUser}}, "m10000"},
		{"WrongOrder", []decant.Message{ms[2], ms[0]}, "m1 after m3"},
		{"SameMessageTwice", []decant.Message{ms[0], ms[0]}, "m1 after m1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := d.Render(d.Conversation.With(tt.view))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// FuzzRender checks that any body that can be read is written back as it is, and that a view of it is
// JSON that can be read again.
func FuzzRender(f *testing.F) {
	files, _ := filepath.Glob("testdata/bodies/render/*.txtar")
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data, uint64(0xA5)) // before.json
	}
	f.Add([]byte(`{"max_tokens":1,"messages":[ {"role":"user","content":[ ]} , {"role":"assistant","content":[{"type":"tool_use"}]}]}`), uint64(1))
	f.Add([]byte(`{"messages":[{"role":"assistant","tool_calls":[{}],"function_call":{}},{"role":"tool"}]}`), uint64(2))
	f.Add([]byte(`{"input":[{"role":"user"},{"type":"reasoning","summary":[]},{"type":"function_call"}]}`), uint64(3))
	f.Add([]byte(`{"input":"hello"}`), uint64(7))
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		d, err := wire.Parse(src)
		if err != nil || d.Format == wire.ClaudeCode || d.Format == wire.Codex || d.Format == wire.Pi {
			return
		}
		if out, err := d.Render(d.Conversation); err != nil || !bytes.Equal(out, src) {
			t.Fatalf("without changes: error %v, or other bytes", err)
		}
		out, err := d.Render(seeded(d.Conversation, seed))
		if err != nil {
			return // a block without text cannot get one
		}
		if _, err := wire.ParseAs(d.Format, out); err != nil {
			t.Fatalf("seed %d turns %q\ninto %q: %v", seed, src, out, err)
		}
	})
}

// seeded returns a view that the bits of seed choose, two for each block.
func seeded(c *decant.Conversation, seed uint64) *decant.Conversation {
	v := c.With(nil)
	n := 0
	for _, m := range c.Messages {
		var bs []decant.Block
		for _, b := range m.Blocks {
			what := seed >> (2 * (n % 32)) & 3
			n++
			switch what {
			case 1:
				continue
			case 2:
				if b.Kind == decant.KindText || b.Kind == decant.KindResult || b.Kind == decant.KindImage || b.Kind == decant.KindUse {
					b.Content = decant.Text("changed")
				}
			case 3:
				bs = append(bs, ours("added"))
			}
			bs = append(bs, b)
		}
		if m.Blocks = bs; len(bs) > 0 {
			v.Messages = append(v.Messages, m)
		}
	}
	return v
}

// A view may put a cache marker on a block that had none, whether or not its text changed; a block that
// stands alone as a string has no place for one.
func TestRenderPutsMarkersOnBlocks(t *testing.T) {
	const src = `{"model":"m","messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":[{"type":"text","text":"yes"},{"type":"tool_use","id":"t1","name":"Bash","input":{"a":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"long"},{"cache_control":null,"type":"text","text":"go"}]}]}`
	for _, tt := range []struct {
		name           string
		message, block int
		ttl, text      string
		want           string
	}{
		{"Text", 1, 0, "5m", "", `{"type":"text","text":"yes","cache_control":{"type":"ephemeral"}}`},
		{"Use", 1, 1, "1h", "", `"input":{"a":1},"cache_control":{"type":"ephemeral","ttl":"1h"}}`},
		{"Result", 2, 0, "5m", "", `"content":"long","cache_control":{"type":"ephemeral"}}`},
		{"ChangedResult", 2, 0, "5m", "short", `"content":"short","cache_control":{"type":"ephemeral"}}`},
		{"NullBefore", 2, 1, "5m", "", `{"cache_control":{"type":"ephemeral"},"type":"text","text":"go"}`},
		{"String", 0, 0, "5m", "", `{"role":"user","content":"hi"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := wire.ParseAs(wire.Anthropic, []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			view := doc.Conversation.With(slices.Clone(doc.Conversation.Messages))
			m := &view.Messages[tt.message]
			m.Blocks = slices.Clone(m.Blocks)
			m.Blocks[tt.block].Cache = tt.ttl
			if tt.text != "" {
				m.Blocks[tt.block].Content = decant.Text(tt.text)
			}
			out, err := doc.Render(view)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), tt.want) {
				t.Errorf("got %s, want %s in it", out, tt.want)
			}
			if again, err := wire.ParseAs(wire.Anthropic, out); err != nil || tt.name != "String" && again.Conversation.Messages[tt.message].Blocks[tt.block].Cache != tt.ttl {
				t.Errorf("read again: %v", err)
			}
		})
	}
}

// Markers inside a result's content count like others; when the result is replaced, the last of them moves
// to the block.
func TestMarkersInsideResults(t *testing.T) {
	const src = `{"model":"m","cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"a":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"long","cache_control":{"type":"ephemeral","ttl":"1h"}},` +
		`{"type":"text","text":"more","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"},"cache_control":{"type":"ephemeral"}}]}]}]}`
	doc, err := wire.ParseAs(wire.Anthropic, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	b := &doc.Conversation.Messages[2].Blocks[0]
	if !slices.Equal(b.Inside, []string{"1h", "5m", "5m"}) || b.Cache != "" || b.Marker() != "5m" || doc.Conversation.Cache != "1h" {
		t.Fatalf("read %q inside, %q on it, %q for the request", b.Inside, b.Cache, doc.Conversation.Cache)
	}
	view, err := decant.View(doc.Conversation, []decant.Decision{{ID: "d", Kind: decant.Stub, Target: decant.TargetOf(b), Text: "short"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := doc.Render(view)
	if err != nil {
		t.Fatal(err)
	}
	again, err := wire.ParseAs(wire.Anthropic, out)
	if err != nil {
		t.Fatal(err)
	}
	if got := &again.Conversation.Messages[2].Blocks[0]; len(got.Inside) != 0 || got.Cache != "5m" || !strings.Contains(got.Text(), "short") {
		t.Errorf("written %s", out)
	}
}
