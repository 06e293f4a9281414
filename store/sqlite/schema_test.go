package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// TestCheckpointColumns guards the table of checkpoints, which other programs may read: it has the
// columns that an orchestrator looks for, under their names.
func TestCheckpointColumns(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	l := &line{Key: store.Key{ID: "conv"}}
	for range 3 {
		if err := l.commit(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	_, err := db.Commit(t.Context(), &store.Batch{Key: l.Key, Version: l.version, Decisions: []decant.Decision{{
		ID: "d", Kind: decant.Cover, Created: time.UnixMicro(1_700_000_000_000_000),
		Checkpoint: &decant.Checkpoint{
			Number: 1, From: 1, To: 2, Messages: 2, Summary: "what happened", Original: 1000, Compressed: 250, CostUSD: 0.5,
			Facts: []decant.Fact{{Kind: decant.FactPath, Text: "a.go", Weight: 1, Message: 1, Author: decant.AuthorUser}},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	got := db.Row(t, `SELECT conversation, checkpoint_num, from_message, to_message, messages_compressed, CAST(summary_content AS TEXT),
		key_facts, original_tokens, compressed_tokens, compression_ratio, summary_cost_usd, created_at FROM checkpoints`, 12)
	want := `conv|1|1|2|2|what happened|[{"kind":"path","text":"a.go","weight":1,"message":1,"author":"user"}]|1000|250|0.25|0.5|1700000000000000`
	if got != want {
		t.Errorf("the checkpoint's row:\ngot  %s\nwant %s", got, want)
	}
}

// FuzzSearch guards two promises: no query is an error, and what stands in a text is found when it
// is asked for in quotes.
func FuzzSearch(f *testing.F) {
	f.Add("the quick brown fox", 4, 9)
	f.Add("store/sqlite/open.go:42 returned <nil>", 6, 20)
	f.Add("修复 the 内存 leak\nnow", 0, 3)
	f.Add("İstanbul ſtrasse ﬁne", 0, 9)
	f.Add("0\x00", 0, 2)
	f.Add("a*b NEAR(c) -d \x00 \xff", 0, 8)
	path := filepath.Join(f.TempDir(), "decant.db")
	db := open(f, path)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		tenant := decant.HashText(text).String()
		l := &store.Batch{
			Key: store.Key{Tenant: tenant, ID: "conv"}, Create: &store.Creation{}, Blobs: [][]byte{[]byte(text)},
			Entries: []store.Entry{{Chain: decant.HashText("c"), Raw: decant.HashText(text), Text: decant.HashText(text)}},
		}
		db.Commit(t.Context(), l) // a text that was tried before is there already
		if _, err := db.Search(t.Context(), store.Query{Tenant: tenant, Text: text}); err != nil {
			t.Fatalf("search for %q: %v", text, err)
		}
		if from < 0 || to > len(text) || from >= to || strings.ContainsRune(text[from:to], '"') || !utf8.ValidString(text) {
			return
		}
		part := text[from:to]
		if strings.TrimSpace(part) == "" || !utf8.ValidString(part) {
			return
		}
		hits, err := db.Search(t.Context(), store.Query{Tenant: tenant, Text: `"` + part + `"`})
		if err != nil || len(hits) != 1 {
			t.Fatalf("search for %q, which is in %q: %v, %v", part, text, hits, err)
		}
	})
}

// TestChatViews guards the names under which the chat's design has its tables, and that an encrypted
// database tells nothing through them.
func TestChatViews(t *testing.T) {
	for name, o := range map[string]sqlite.Options{"clear": {}, "encrypted": {Key: key(t, "01").Secret}} {
		t.Run(name, func(t *testing.T) {
			db := openAs(t, filepath.Join(t.TempDir(), "decant.db"), o)
			l := &line{Key: store.Key{ID: "conv"}}
			must(t, l.commit(t.Context(), db))
			must(t, db.AddSteps(t.Context(), &store.Addition{Key: store.Key{ID: "s"}, Kind: "session", Conversation: "conv", Head: []byte(`{"title":"Plans"}`), Steps: [][]byte{{1}}}))
			must(t, db.AddSteps(t.Context(), &store.Addition{Key: store.Key{ID: "mail"}, Kind: "agent", Head: []byte(`{"config":{"keep_last_assistants":3}}`), Steps: [][]byte{{1}}}))
			user := memory.Scope{Level: memory.User}
			it, err := memory.New("m:1", memory.KindMemory, user, "Prefers tabs.", memory.Source{}, time.Unix(1, 0))
			must(t, err)
			must(t, db.Revise(t.Context(), "", user, memory.Save(it)))
			got := db.Row(t, "SELECT COALESCE(title, '-'), total_tokens_estimate, compaction_count FROM chat_sessions", 3) + " " +
				db.Row(t, "SELECT agent_name, COALESCE(config, '-') FROM agent_configurations", 2) + " " +
				db.Row(t, "SELECT scope, COALESCE(notes, '-') FROM agent_long_term_memory", 2)
			want := map[string]string{
				"clear":     `Plans|0|0 mail|{"keep_last_assistants":3} user|Prefers tabs.`,
				"encrypted": `-|0|0 mail|- user|-`,
			}[name]
			if got != want {
				t.Errorf("the views show\n%s, want\n%s", got, want)
			}
		})
	}
}
