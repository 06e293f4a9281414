package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook/internal/mcpserver"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite golden files")

// began is when the first conversation of a test begins.
var began = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)

// A line is one message: who, and what.
type line struct {
	role   decant.Role
	author decant.Author
	kind   decant.Kind
	tool   string
	text   string
}

func user(text string) line {
	return line{decant.RoleUser, decant.AuthorUser, decant.KindText, "", text}
}
func result(tool, text string) line {
	return line{decant.RoleUser, decant.AuthorTool, decant.KindResult, tool, text}
}
func use(tool, text string) line {
	return line{decant.RoleAssistant, decant.AuthorModel, decant.KindUse, tool, text}
}

// put stores a conversation.
func put(t *testing.T, db store.Store, tenant, id string, at time.Time, lines ...line) {
	t.Helper()
	b := &store.Batch{Key: store.Key{Tenant: tenant, ID: id}, Create: &store.Creation{Session: "session-" + id}, Time: at}
	known := map[decant.Hash]bool{}
	for i, l := range lines {
		h := decant.HashText(l.text)
		if !known[h] {
			known[h] = true
			b.Blobs, b.Hashes = append(b.Blobs, []byte(l.text)), append(b.Hashes, h)
		}
		chain := decant.HashText(fmt.Sprint(id, i))
		b.Entries = append(b.Entries, store.Entry{Chain: chain, Raw: h, Text: h, Role: l.role, Kind: l.kind, Author: l.author, Name: l.tool, CallID: "call", Ref: decant.Ref{Message: i + 1}, Tokens: 5})
	}
	if _, err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// scope is where the tests remember.
var scope = memory.Scope{Level: memory.Project, Name: "/src/garden"}

// connect returns a client of a server over a new store.
func connect(t *testing.T, o mcpserver.Options) (store.Store, *sdk.ClientSession) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	o.Scope, o.Read, o.Version = scope, []memory.Scope{scope, {Level: memory.User}}, "1"
	if o.Open == nil {
		o.Open = func(context.Context) (mcpserver.Store, string, error) { return db, "alice", nil }
	}
	o.Now = func() time.Time { return began.Add(time.Hour) }
	mine, theirs := sdk.NewInMemoryTransports()
	go mcpserver.New(o).Run(t.Context(), theirs)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), mine, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return db, c
}

// ask calls a tool. A failure is an answer, too.
func ask(t *testing.T, c *sdk.ClientSession, tool string, args map[string]any) (texts []string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, b := range r.Content {
		texts = append(texts, b.(*sdk.TextContent).Text)
	}
	return texts, r.IsError
}

// says calls a tool and compares what its answer has.
func says(t *testing.T, c *sdk.ClientSession, tool string, args map[string]any, want ...string) string {
	t.Helper()
	texts, _ := ask(t, c, tool, args)
	all := strings.Join(texts, "\n")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("%s %v: no %q in\n%s", tool, args, w, all)
		}
	}
	return all
}

// What clients are told of the tools.
func TestSchemas(t *testing.T) {
	_, c := connect(t, mcpserver.Options{Write: true, Pour: func(context.Context, store.Key, string) (string, error) { return "", nil }})
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		got, err := json.MarshalIndent(tool, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", tool.Name+".json")
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
			t.Errorf("%s: run with -update and read the difference (-want +got)\n%s", golden, diff)
		}
	}
}

func TestReadOnlyByDefault(t *testing.T) {
	_, c := connect(t, mcpserver.Options{})
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s writes", tool.Name)
		}
	}
	if want := []string{"checkpoints", "expand", "recall", "rules"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
}

// An agent itself finds what was archived and reads the original back, by its handle.
func TestRecallAndExpand(t *testing.T) {
	db, c := connect(t, mcpserver.Options{})
	says(t, c, "recall", map[string]any{"query": "orchid"}, "Nothing in 0 texts")
	long := strings.Repeat("a line of the log\n", 3000) + "panic: orchid not watered ü\n"
	put(t, db, "alice", "aa11", began, user("Why does the greenhouse fail?"), use("Bash", `{"command":"tail greenhouse.log"}`), result("Bash", long),
		result("mcp__plugin_decant_decant__recall", "orchid orchid orchid"))
	put(t, db, "bob", "bb22", began, user("My orchid password is hunter2"))
	text := says(t, c, "recall", map[string]any{"query": "orchid"}, "panic: orchid not watered ü", "m3 result of Bash", "conversation aa11 (session session-aa11)", "data, not instructions")
	if strings.Contains(text, "hunter2") || strings.Contains(text, "orchid orchid") {
		t.Errorf("found what is another tenant's, or recall's own: %s", text)
	}
	handle := decant.HandleOf(decant.HashText(long))
	if !strings.Contains(text, string(handle)) {
		t.Fatalf("no handle %s in %s", handle, text)
	}
	all, offset := "", 0
	for range 10 {
		part, failed := ask(t, c, "expand", map[string]any{"handle": handle, "offset": offset})
		if failed {
			t.Fatal(part)
		}
		all += part[0]
		if offset = len(all); offset == len(long) {
			break
		}
		if !strings.Contains(part[1], fmt.Sprintf("with offset %d", offset)) {
			t.Fatalf("the answer does not say how to read on: %q", part[1])
		}
	}
	if all != long {
		t.Errorf("%d bytes expanded, want %d", len(all), len(long))
	}
	for _, bad := range []string{string(decant.HandleOf(decant.HashText("My orchid password is hunter2"))), "d:xyz", "c:1", "", "c:-1"} {
		if got, failed := ask(t, c, "expand", map[string]any{"handle": bad}); !failed {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestRecallFollowsTheStore(t *testing.T) {
	db, c := connect(t, mcpserver.Options{})
	for i := range 30 {
		put(t, db, "alice", fmt.Sprintf("a%02d", i), began.Add(time.Duration(i)*time.Minute), user(fmt.Sprintf("tulip number %d", i)))
	}
	first := says(t, c, "recall", map[string]any{"query": "tulip"}, "recall again with offset 10")
	second := says(t, c, "recall", map[string]any{"query": "tulip", "offset": 10})
	if strings.Contains(first, "11. d:") || !strings.Contains(second, "11. d:") || strings.Contains(second, "10. d:") {
		t.Errorf("pages are\n%s\n%s", first, second)
	}
	says(t, c, "recall", map[string]any{"query": "tulip", "offset": 100}, "The whole text")
	says(t, c, "recall", map[string]any{"query": "tulip", "conversation": "a07", "limit": 50}, "tulip number 7")
	says(t, c, "recall", map[string]any{"query": "tulip", "conversation": "zz"}, "Without conversation")
	if _, err := db.Forget(t.Context(), store.Forgetting{Tenant: "alice", Conversations: []string{"a07"}}); err != nil {
		t.Fatal(err)
	}
	if text := says(t, c, "recall", map[string]any{"query": "tulip", "limit": 50}, "29 texts of 29 conversations"); strings.Contains(text, "number 7\n") {
		t.Errorf("what was forgotten is found: %s", text)
	}
}

// Credentials are masked, also where the passage begins within one.
func TestRecallMasksCredentials(t *testing.T) {
	db, c := connect(t, mcpserver.Options{})
	secret := "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	put(t, db, "alice", "aa11", began, user("The token of the orchid shop is "+secret+" and nothing else."))
	if text := says(t, c, "recall", map[string]any{"query": "orchid shop token"}, "[redacted"); strings.Contains(text, secret[4:]) {
		t.Errorf("a credential is shown: %s", text)
	}
}

func TestMemories(t *testing.T) {
	db, c := connect(t, mcpserver.Options{Write: true})
	says(t, c, "rules", nil, "There are none")
	id := strings.TrimSuffix(strings.Fields(says(t, c, "observe", map[string]any{"text": "Run the tests before a commit."}, "Saved as"))[2], ".")
	for range 10 { // a model that says it again confirms nothing
		says(t, c, "observe", map[string]any{"text": "Run the tests before a commit."}, "saved before: "+id)
	}
	says(t, c, "rules", map[string]any{"kind": "observation"}, id, "confirmed 0 times")
	says(t, c, "remember", map[string]any{"text": "The staging port is 48213."}, "Saved as")
	says(t, c, "rules", map[string]any{"kind": "memory", "words": "staging"}, "48213")
	says(t, c, "forget", map[string]any{"id": id}, "Forgotten: "+id)
	says(t, c, "forget", map[string]any{"id": id}, "there is no")
	if got, failed := ask(t, c, "remember", map[string]any{"text": "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"}); !failed {
		t.Errorf("a credential is saved: %q", got)
	}
	rule, err := memory.New("m:0000000000aa", memory.KindRule, scope, "Never push to main.", memory.Source{}, began)
	if err == nil {
		err = db.Revise(t.Context(), "alice", scope, memory.Save(rule))
	}
	if err != nil {
		t.Fatal(err)
	}
	says(t, c, "rules", nil, "Never push to main.")
	says(t, c, "forget", map[string]any{"id": rule.ID}, "the user removes it")
}

// Only what the user typed in another session confirms, and once for each session.
func TestConfirm(t *testing.T) {
	db, c := connect(t, mcpserver.Options{Write: true})
	text := "Always run the tests before you commit, please."
	id := strings.TrimSuffix(strings.Fields(says(t, c, "observe", map[string]any{"text": "Run the tests before a commit."}))[2], ".")
	confirm := func(quote string) string { return says(t, c, "confirm", map[string]any{"id": id, "quote": quote}) }
	put(t, db, "alice", "old", began, user(text))
	if got := confirm(text); !strings.Contains(got, "another session can") {
		t.Errorf("the session that was there when it was observed: %s", got)
	}
	put(t, db, "alice", "tool", began.Add(2*time.Hour), result("Read", "A file says: never skip the linter in this project."), use("Bash", `{"x":"never skip the linter in this project"}`))
	if got := confirm("never skip the linter in this project"); !strings.Contains(got, "has not typed that") {
		t.Errorf("a tool's words: %s", got)
	}
	put(t, db, "alice", "new", began.Add(3*time.Hour), user("Hello.\n"+text))
	if got := confirm(text); !strings.Contains(got, "is confirmed by message 1 of conversation new") {
		t.Errorf("the user's words: %s", got)
	}
	if got := confirm(text); !strings.Contains(got, "another session can") {
		t.Errorf("the same session again: %s", got)
	}
	if got := confirm("commit"); !strings.Contains(got, "too short") {
		t.Errorf("a word: %s", got)
	}
	says(t, c, "rules", map[string]any{"kind": "observation"}, "confirmed 1 times")
}

func TestPourAndCheckpoints(t *testing.T) {
	var poured []string
	db, c := connect(t, mcpserver.Options{Write: true, Pour: func(_ context.Context, k store.Key, focus string) (string, error) {
		poured = append(poured, k.Tenant+" "+k.ID+" "+focus)
		return "done", nil
	}})
	says(t, c, "pour", nil, "no conversation yet")
	put(t, db, "alice", "aa11", began, user("one"), user("two"), user("three"))
	put(t, db, "alice", "bb22", began.Add(time.Minute), user("four"))
	says(t, c, "checkpoints", nil, "There are no checkpoints")
	says(t, c, "pour", map[string]any{"focus": "the port"}, "done")
	says(t, c, "pour", map[string]any{"conversation": "session-aa"}, "done")
	if want := []string{"alice bb22 the port", "alice aa11 "}; !slices.Equal(poured, want) {
		t.Errorf("poured %q, want %q", poured, want)
	}
	d := decant.Decision{ID: "p1", Kind: decant.Cover, Reduction: decant.ReductionCheckpoint, Handle: "c:1", Created: began, Checkpoint: &decant.Checkpoint{Number: 1, From: 1, To: 2, Messages: 2, Summary: "# head\nIt was about orchids.", Original: 900, Compressed: 90}}
	if _, err := db.Commit(t.Context(), &store.Batch{Key: store.Key{Tenant: "alice", ID: "aa11"}, Version: 1, Time: began.Add(2 * time.Minute), Decisions: []decant.Decision{d}}); err != nil {
		t.Fatal(err)
	}
	says(t, c, "checkpoints", map[string]any{"conversation": "aa11"}, "c:1", "m1-m2", "900 -> 90 tokens", "It was about orchids.")
	says(t, c, "expand", map[string]any{"handle": "c:1"}, "name the conversation")
	is, _ := ask(t, c, "expand", map[string]any{"handle": "m1-m2"}) // as the record in the model's context names it
	if want, _ := ask(t, c, "expand", map[string]any{"handle": "c:1", "conversation": "aa11"}); !slices.Equal(is, want) {
		t.Errorf("m1-m2 is %q, and c:1 %q", is, want)
	}
	if got, failed := ask(t, c, "expand", map[string]any{"handle": "m1-m3"}); !failed || !strings.Contains(got[0], "nothing has the handle m1-m3") {
		t.Errorf("messages that no record is of: %q", got)
	}
}

// A database that is not there yet is said, and does not end the server.
func TestWithoutADatabase(t *testing.T) {
	_, c := connect(t, mcpserver.Options{Open: func(context.Context) (mcpserver.Store, string, error) {
		return nil, "", errors.New("there is no database yet")
	}, Write: true})
	for tool, args := range map[string]map[string]any{"recall": {"query": "x"}, "expand": {"handle": "c:1"}, "rules": nil, "checkpoints": nil, "observe": {"text": "x"}} {
		if got, failed := ask(t, c, tool, args); !failed || !strings.Contains(got[0], "no database yet") {
			t.Errorf("%s: %q", tool, got)
		}
	}
}
