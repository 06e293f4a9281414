package report_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/report"
)

func TestLedgerRowsAddUp(t *testing.T) {
	rows := report.Add(nil, report.LedgerRow{Name: "a", Requests: 1, Prompt: 10, Without: 20, Spent: 1, Bare: 3})
	rows = report.Add(rows, report.LedgerRow{Name: "b", Requests: 5})
	rows = report.Add(rows, report.LedgerRow{Name: "a", Requests: 2, Prompt: 5, Without: 5, Spent: 2, Bare: 1})
	want := report.LedgerRow{Name: "a", Requests: 3, Prompt: 15, Without: 25, Spent: 3, Bare: 4}
	if len(rows) != 2 || rows[0] != want || rows[0].Net() != 1 {
		t.Errorf("got %+v, want %+v first", rows, want)
	}
}

// A loss is shown as one.
func TestLedgerShowsLosses(t *testing.T) {
	l := report.Ledger{To: "2026-11-20", Spent: 2, Bare: 1.5}
	var out strings.Builder
	if err := l.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "-$0.50") {
		t.Errorf("no loss of half a dollar in\n%s", out.String())
	}
}

func TestPagesEscapeWhatTheyShow(t *testing.T) {
	l := report.Ledger{To: "2026-11-20", Projects: []report.LedgerRow{{Name: "<script>alert(1)</script>"}}}
	var out strings.Builder
	if err := l.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "<script") || !strings.Contains(out.String(), "&lt;script&gt;") {
		t.Error("the name of a project became markup")
	}
}
