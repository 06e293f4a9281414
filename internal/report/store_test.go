package report_test

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func sessions() []report.Session {
	return []report.Session{
		{
			ID: "01a1f8c1-3677-7000-81ce-9d7f66f431bb", Session: "abc-def-ghi-jkl-mno", Title: "please fix the test of the parser that fails on Windows", Agent: "claude-code", Project: "/src/shop", Model: "claude-opus-4-6",
			Messages: 107, Tokens: 58_306, Decisions: 23, Checkpoints: 2, Spent: 1.25, Saved: 0.31, Updated: noon, Pinned: true,
		},
		{ID: "01a1f8c1-3699-7000-81ce-9d7f66f431cc", Model: "m-1", Messages: 7, Tokens: 410, Updated: noon.Add(-30 * time.Hour)},
	}
}

// decisions returns a pour on conversation(): m3 became a stub, m4 to m5 a checkpoint, and an earlier
// checkpoint was taken back.
func decisions(c *decant.Conversation) []decant.Decision {
	b := &c.Messages[2].Blocks[0]
	return []decant.Decision{
		{ID: "p1.1", Kind: decant.Cover, Handle: "c:1", Created: noon.Add(-time.Hour), Checkpoint: &decant.Checkpoint{
			Number: 1, From: 2, To: 3, Messages: 2, Summary: "too short", Original: 700, Compressed: 2, Score: 0.3, Rung: decant.RungHeadTail,
		}},
		{ID: "u1.1", Kind: decant.Revoke, Revokes: "p1.1", Reason: "undo of checkpoint"},
		{ID: "p2.1", Kind: decant.Stub, Reduction: decant.ReductionStub, Reason: "old result of Read", Target: decant.TargetOf(b), Text: "[Read a.go]", Handle: decant.HandleOf(b.Hash()), Before: 600, After: 2},
		{ID: "p2.2", Kind: decant.Cover, Reduction: decant.ReductionCheckpoint, Reason: "the window is full", Handle: "c:2", Created: noon, Before: 6, After: 4, Checkpoint: &decant.Checkpoint{
			Number: 2, From: 4, To: 5, Messages: 2, Placement: decant.PlaceMessage, Summary: "a.go was edited", Original: 6, Compressed: 4, Score: 0.92, Rung: decant.RungExtractive,
		}},
	}
}

func plan(c *decant.Conversation) *report.Plan {
	return &report.Plan{Name: "last", Version: 12, Plan: &decant.Plan{
		Model: "claude-opus-4-6", Window: 40_000, Reason: "a pour now, by the route edit", Decisions: decisions(c)[1:],
		Before: decant.Size{Fixed: 3000, Messages: 30_100}, After: decant.Size{Fixed: 3000, Messages: 14_050}, Score: 0.92,
		Price: decant.Price{Saved: 16_050, CacheLost: 9000, CostUSD: 0.0518, SaveUSD: 0.008, BreakEven: 7},
		Risk:  []decant.Fact{{Kind: decant.FactPath, Text: "/src/b.go", Weight: 1, Message: 3}, {Kind: decant.FactError, Text: "exit status 2", Weight: 4, Message: 3}},
	}}
}

// undo is plan turned round.
func undo(c *decant.Conversation) *report.Plan {
	p := plan(c)
	p.Reason, p.Hold, p.Risk = "take back the newest pour and hold", true, nil
	p.Decisions = []decant.Decision{
		{Kind: decant.Revoke, Reason: "undo of stub"}, {Kind: decant.Revoke, Reason: "undo of stub"}, {Kind: decant.Revoke, Reason: "undo of checkpoint"},
		{Kind: decant.Hold, Reason: "the newest pour was taken back"},
	}
	p.Before, p.After = p.After, p.Before
	p.Price = decant.Price{Saved: -16_050, CacheLost: 25_000, CostUSD: 0.1437, SaveUSD: -0.008, BreakEven: -1}
	return p
}

func overview(t *testing.T) *report.Overview {
	c := conversation()
	view, err := decant.View(c, decisions(c))
	if err != nil {
		t.Fatal(err)
	}
	return report.NewOverview(sessions()[0], c, view, decisions(c), words{})
}

func changes(t *testing.T, c *decant.Conversation) *report.Changes {
	view, err := decant.View(c, decisions(c))
	if err != nil {
		t.Fatal(err)
	}
	return &report.Changes{Before: "transcript", After: "view", Was: c, Is: view, Size: words{}}
}

// What the commands over the store print, each part of the golden file by its name.
func TestStoreTexts(t *testing.T) {
	c := conversation()
	hits := []report.Hit{
		{Conversation: "01a1f8c1", Session: "abc", Message: "m3", Role: decant.RoleUser, Kind: decant.KindResult, Tool: "Read", Snippet: "func next() error", Match: [2]int{5, 9}},
		{Conversation: "01a1f8c2", Message: "m12", Role: decant.RoleAssistant, Kind: decant.KindText, Snippet: "next we test", Match: [2]int{0, 4}},
		{Conversation: "01a1f8c1", Session: "abc", Message: "m10", Role: decant.RoleAssistant, Kind: decant.KindUse, Tool: "Bash", Snippet: `{"command":"next"}`, Match: [2]int{12, 16}},
	}
	gone := &report.Collection{Removed: append(sessions()[1:], report.Session{ID: "01a1f8c1-36aa"}), Left: 3, Pinned: 1, Shared: 2, Blobs: 9, Bytes: 81_200}
	before, after := report.Text{Name: "before c:1", Text: "one\ntwo\nthree\n"}, report.Text{Name: "after c:1", Text: "one\n\x1b[1m2\r\n\tthree\n"}
	dry := *gone
	dry.DryRun = true
	dry.Removed = nil
	parts := []struct {
		name  string
		write func(io.Writer) error
	}{
		{"sessions", func(w io.Writer) error { return report.WriteSessions(w, sessions(), time.UTC, false) }},
		{"sessions whole", func(w io.Writer) error { return report.WriteSessions(w, sessions(), time.UTC, true) }},
		{"sessions none", func(w io.Writer) error { return report.WriteSessions(w, nil, time.UTC, false) }},
		{"overview", func(w io.Writer) error { return overview(t).WriteText(w, 80, time.UTC) }},
		{"checkpoint", func(w io.Writer) error { return overview(t).Checkpoint("c:2").WriteText(w, time.UTC) }},
		{"plan", plan(c).WriteText},
		{"undo", undo(c).WriteText},
		{"search", func(w io.Writer) error { return report.WriteHits(w, hits, false) }},
		{"search in colour", func(w io.Writer) error { return report.WriteHits(w, hits[1:2], true) }},
		{"search for nothing", func(w io.Writer) error { return report.WriteHits(w, nil, false) }},
		{"gc", func(w io.Writer) error { return gone.WriteText(w, time.UTC) }},
		{"gc of nothing", func(w io.Writer) error { return dry.WriteText(w, time.UTC) }},
		{"changes", func(w io.Writer) error { return changes(t, c).WriteText(w) }},
		{"no changes", func(w io.Writer) error {
			return (&report.Changes{Before: "a", After: "b", Was: c, Is: c, Size: words{}}).WriteText(w)
		}},
		{"diff", func(w io.Writer) error { return report.WriteDiff(w, before, after, false) }},
		{"diff in colour", func(w io.Writer) error { return report.WriteDiff(w, before, after, true) }},
		{"diff of the same", func(w io.Writer) error { return report.WriteDiff(w, before, before, false) }},
	}
	var got []txtar.File
	for _, part := range parts {
		var b bytes.Buffer
		if err := part.write(&b); err != nil {
			t.Errorf("%s: %v", part.name, err)
		}
		got = append(got, txtar.File{Name: part.name, Data: b.Bytes()})
	}
	goldenParts(t, "testdata/store.txtar", got)
}

// goldenParts compares the parts of a txtar file, or with -update rewrites them.
func goldenParts(t *testing.T, name string, parts []txtar.File) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := txtar.Format(&txtar.Archive{Comment: a.Comment, Files: parts})
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(a)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
