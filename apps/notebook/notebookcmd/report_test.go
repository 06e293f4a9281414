package notebookcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/memory"
)

// What was escalated and archived in the month is counted, and no other; a rule that was suspended or archived is in force for
// nobody, one that was restored is.
func TestRecordsOfAMonth(t *testing.T) {
	day := func(month, n int) time.Time { return time.Date(2026, time.Month(month), n, 9, 0, 0, 0, time.UTC) }
	item := func(kind memory.Kind, text string, archived, restored, escalated time.Time, d notebook.Detail) memory.Item {
		t.Helper()
		it, err := memory.New("m:"+text, kind, memory.Scope{Level: memory.Project, Name: "x"}, text, memory.Source{}, day(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		it.Archived, it.Restored, it.Escalated = archived, restored, escalated
		out, err := (&notebook.Record{Item: it, Detail: d}).Packed()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	never := time.Time{}
	items := []memory.Item{
		item(memory.KindRule, "stands", never, never, never, notebook.Detail{}),
		item(memory.KindRule, "suspended", never, never, never, notebook.Detail{Suspended: day(3, 1), Against: "no"}),
		item(memory.KindRule, "gone", day(3, 2), never, never, notebook.Detail{}),
		item(memory.KindRule, "restored", day(2, 2), day(2, 3), never, notebook.Detail{}),
		item(memory.KindObservation, "escalated", never, never, day(3, 4), notebook.Detail{}),
		item(memory.KindObservation, "escalated before", never, never, day(2, 4), notebook.Detail{}),
		item(memory.KindObservation, "archived", day(3, 5), never, never, notebook.Detail{}),
		item(memory.KindTask, "old task", day(3, 1), never, never, notebook.Detail{Task: &notebook.Task{Ref: "TASK-1"}}),
		item(memory.KindTask, "older task", day(2, 1), never, never, notebook.Detail{Task: &notebook.Task{Ref: "TASK-2"}}),
		item(memory.KindMemory, "a decision", day(3, 1), never, never, notebook.Detail{Type: notebook.DecisionType}),
	}
	var v scan.MonthValues
	if err := fromMemory(&v, items, lookup.Period{From: day(3, 1).Add(-9 * time.Hour), To: day(4, 1).Add(-9 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range v.Rules {
		names = append(names, r.Text)
	}
	if got := strings.Join(names, ", "); got != "stands, restored" {
		t.Errorf("in force are %s", got)
	}
	if want := (scan.MonthRecords{Escalated: 1, Archived: 1, TasksArchived: 1}); *v.Records != want {
		t.Errorf("counted %+v, want %+v", *v.Records, want)
	}
}

// The card of a session has the peak, what each compaction recovered and took, and where the transcript is.
func TestCard(t *testing.T) {
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	got := card(&scan.Session{ID: "s1", File: "s1.jsonl", Start: start, Active: 5400, Requests: 40, Average: 50_000, Peak: 95_000, Usage: decant.Usage{},
		Compactions: []scan.Compaction{{Message: 81, Before: 95_000, After: 15_000, Took: 30}}, Tasks: []scan.Task{{Done: true}, {}}})
	for _, want := range []string{"Session ID:          s1", "Peak tokens:         95,000", "Time at work:        1h30m0s", "Tasks completed:     1\n",
		"Tokens recovered:    80,000 (95,000 → 15,000)", "Compression ratio:   84% reduction", "Time to compact:     30 s", "Original transcript: s1.jsonl"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
