package lookup

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// The index says what the user asked first and last, on one line and without secrets, and nothing that a tool said.
func TestArchived(t *testing.T) {
	const secret = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghij-AA"
	doc, err := wire.Parse([]byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[
		{"role":"user","content":"Fix\nthe  parser with ` + secret + `"},
		{"role":"assistant","content":"Done."},
		{"role":"user","content":"<system-reminder>\nThe user sent a new message while you were working:\n` + strings.Repeat("thanks ", 30) + `\n</system-reminder>"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_800_000_000, 0)
	c := &store.Summary{Conversation: store.Conversation{Key: store.Key{ID: "aa11"}, Created: at, Updated: at.Add(90 * time.Second)}}
	row := Archived("aa11.json", c, doc.Conversation)
	if row.File != "aa11.json" || row.Lasted != 2*time.Minute {
		t.Errorf("%+v", row)
	}
	if !strings.HasPrefix(row.About, "Fix the parser with ") || strings.Contains(row.About, secret) || !strings.Contains(row.About, " … thanks thanks") || !strings.HasSuffix(row.About, "…") {
		t.Errorf("about: %q", row.About)
	}
	if row := Archived("x", c, &decant.Conversation{}); row.About != "" {
		t.Errorf("about nothing: %q", row.About)
	}
}
