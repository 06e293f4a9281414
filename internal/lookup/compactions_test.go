package lookup

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// People ask everywhere for an account of what an opaque compaction kept: a summary of the provider's is shown like a
// record, with what must be kept and is not in it (codex#21468, codex#23909).
func TestWhatACompactionLacks(t *testing.T) {
	doc, err := wire.Parse([]byte(`{"model":"claude-opus-4-6","max_tokens":9,"messages":[
		{"role":"user","content":"Fix the import in /srv/shop/importer.go. Never touch the table orders_archive."},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"path":"/srv/shop/importer.go"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"panic: ERR_4711 in row 20318"}]},
		{"role":"assistant","content":"The parser in /srv/shop/importer.go rejects the decimal comma of invoice INV-2231."},
		{"role":"user","content":"Right."},
		{"role":"assistant","content":[{"type":"compaction","content":"The parser in /srv/shop/importer.go rejects the decimal comma."},{"type":"text","text":"On it goes."}]},
		{"role":"user","content":"Go on."},
		{"role":"assistant","content":[{"type":"compaction","content":null},{"type":"text","text":"This one failed."}]},
		{"role":"user","content":"Go on."}]}`))
	if err != nil {
		t.Fatal(err)
	}
	model, _ := catalog(t).Lookup("claude-opus-4-6")
	rows := Compactions(t.Context(), doc.Conversation, token.For(model))
	if len(rows) != 1 {
		t.Fatalf("%d summaries, want one: that which failed hides nothing", len(rows))
	}
	r := &rows[0]
	if r.Handle != "c:m6" || r.From != 1 || r.To != 5 || r.Rung != decant.RungNative || r.State != report.InView || r.Score <= 0 || r.Score >= 1 {
		t.Errorf("%+v", r)
	}
	var text strings.Builder
	if err := r.WriteText(&text, time.UTC); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"c:m6  m1 to m5", "The parser in", "that must be kept are not in it:", "orders_archive"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	r.Summary, r.Missing = "", nil
	text.Reset()
	if r.WriteText(&text, time.UTC); !strings.Contains(text.String(), "the provider has encrypted it") {
		t.Errorf("what cannot be read is not said:\n%s", text.String())
	}
}

func catalog(t *testing.T) *token.Catalog {
	c, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
