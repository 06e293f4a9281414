package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/token"
)

func TestLedgerRowsAddUp(t *testing.T) {
	rows := report.Add(nil, report.LedgerRow{Name: "a", Requests: 1, Prompt: 10, Without: 20, Spent: 1, Bare: 3})
	rows = report.Add(rows, report.LedgerRow{Name: "b", Requests: 5})
	rows = report.Add(rows, report.LedgerRow{Name: "a", Requests: 2, Prompt: 5, Without: 5, Spent: 2, Bare: 1})
	rows = report.Add(rows, report.LedgerRow{Name: "a", Over: report.Oversized{Requests: 1, Prompt: 5, Without: 50, Spent: 7}})
	want := report.LedgerRow{Name: "a", Requests: 3, Prompt: 15, Without: 25, Spent: 3, Bare: 4, Over: report.Oversized{Requests: 1, Prompt: 5, Without: 50, Spent: 7}}
	if len(rows) != 2 || rows[0] != want || rows[0].Net() != 8 {
		t.Errorf("got %+v, want %+v first", rows, want)
	}
}

// A loss is shown as one.
func TestLedgerShowsLosses(t *testing.T) {
	l := report.Ledger{To: "2026-11-20", Requests: 1, Spent: 2, Bare: 1.5, Saved: -0.5}
	var out strings.Builder
	if err := l.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "-$0.50") || !strings.Contains(out.String(), "until 2026-11-20: $0.50 lost") {
		t.Errorf("no loss of half a dollar in\n%s", out.String())
	}
}

// What nobody could have sent is a line of its own, and in no sum of what would have been. Columns say
// what they are.
func TestLedgerSetsWhatCouldNotHaveBeenSentApart(t *testing.T) {
	over := report.Oversized{Requests: 3, Prompt: 90_000, Without: 2_700_000, Spent: 0.45}
	l := report.Ledger{To: "2026-11-20", Requests: 5, Spent: 1.45, Bare: 4, Saved: 3, Over: over, By: "tenant",
		Models:  []report.LedgerRow{{Name: "hidden"}},
		Tenants: []report.LedgerRow{{Name: "acme|co", Requests: 5, Prompt: 91_000, Without: 2_705_000, Spent: 1.45, Bare: 4, Over: over}},
	}
	var text, page strings.Builder
	for _, err := range []error{l.WriteText(&text), l.WriteHTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"text": text.String(), "page": page.String()} {
		for _, want := range []string{"$3.00 saved, 75%", "could not have been sent", "3 requests of 900,000 tokens on average", "would have sent", "would have cost", "besides, over the window", "2,700,000", "$3.00 saved", "5 of clients, 0 of Decant"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
		if strings.Contains(out, "hidden") {
			t.Errorf("%s: shows another table than that by tenant", name)
		}
	}
}

// What was written to the cache again is shown for main agents and sub-agents, and for those sub-agents that wrote most; without
// sub-agents there is nothing to tell apart.
func TestLedgerTellsAgentsApart(t *testing.T) {
	text := func(l *report.Ledger) string {
		t.Helper()
		var out strings.Builder
		if err := l.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	l := &report.Ledger{To: "2026-11-20", Requests: 1, Full: true}
	l.AddWrites("shop", "", cause.Table{{Kind: cause.New, Tokens: 3000}, {Kind: cause.Expired, Tokens: 1000, Extra: .25}})
	if out := text(l); strings.Contains(out, "by agent") || !strings.Contains(out, "by project") {
		t.Errorf("without sub-agents:\n%s", out)
	}
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		l.AddWrites("shop", name+" of m", cause.Table{{Kind: cause.New, Tokens: 500}, {Kind: cause.Tools, Tokens: 100 * i, Extra: .01}})
	}
	_, out, _ := strings.Cut(text(l), "by agent")
	for _, want := range []string{"main agents    4,000          25%           $0.25  expired", "sub-agents     5,600          38%", "  g of m       1,100          55%           $0.01  tools changed", "  c of m"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "b of m") || strings.Index(out, "g of m") > strings.Index(out, "f of m") {
		t.Errorf("want the five that wrote most again, the first first:\n%s", out)
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

// Models that retire soon are named as long as they can be used.
func TestLedgerNamesModelsThatRetire(t *testing.T) {
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		at   time.Time
		want []string
	}{
		{time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), []string{"claude-sonnet-4-5 retires on 2026-11-30, in 4 days"}},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), nil},
	} {
		l := report.Ledger{To: "2026-12-01", Requests: 3, Models: []report.LedgerRow{{Name: "claude-sonnet-4-5-20250929"}, {Name: "claude-opus-5-5"}, {Name: "claude-opus-4"}}}
		l.Date(catalog, tt.at)
		var out strings.Builder
		if err := l.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Retiring, tt.want) || strings.Contains(out.String(), "choose another model") != (tt.want != nil) {
			t.Errorf("on %v: got %q, want %q, in\n%s", tt.at, l.Retiring, tt.want, out.String())
		}
	}
}

// Seven days are seven days, whatever stands below some of them, and what has no price costs nothing that is known.
func TestLedgerShowsTheLastDays(t *testing.T) {
	l := report.Ledger{Requests: 9}
	for day := range 9 {
		l.Days = append(l.Days, report.LedgerRow{
			Name: fmt.Sprintf("2026-11-%02d", day+1), Requests: 2, Prompt: 10, Spent: 1, Bare: 2, Over: report.Oversized{Requests: 1, Prompt: 5},
		})
	}
	l.Models = []report.LedgerRow{{Name: "qwen3", Requests: 2, Prompt: 10}}
	var b bytes.Buffer
	if err := l.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Contains(got, "2026-11-02") || !strings.Contains(got, "2026-11-03") || strings.Count(got, "besides") != 7 || strings.Count(got, "unknown") != 3 {
		t.Error(got)
	}
}
