package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/report"
)

// On a narrow screen tables leave out columns and sentences break between words; what is written to
// a file is not touched.
func TestNarrowScreens(t *testing.T) {
	var sessions []report.Session
	for i := range 5 {
		sessions = append(sessions, report.Session{
			ID: fmt.Sprintf("01a2002b-ae2a-7%03d-b94e-a6674c5a2bd3", i), Session: "a-session-with-a-long-name", Title: "mend the build and then all of the tests", Agent: "claude-code", Project: "/src/a-long-project",
			Model: "claude-sonnet-4-5-20250929", Messages: 1000 + i, Tokens: 1_000_000, Updated: time.Date(2026, 11, 22, 10, i, 0, 0, time.UTC),
		})
	}
	write := func(columns int) string {
		var b bytes.Buffer
		if err := report.WriteSessions(&report.Screen{Terminal: &b, Columns: columns}, sessions, time.UTC, false); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var whole bytes.Buffer
	if err := report.WriteSessions(&whole, sessions, time.UTC, false); err != nil {
		t.Fatal(err)
	}
	if got := write(200); got != whole.String() || !strings.Contains(got, "claude-sonnet-4-5-20250929") {
		t.Errorf("a wide screen:\n%s", got)
	}
	for _, columns := range []int{70, 60} {
		got := write(columns)
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns {
				t.Errorf("%d columns on a screen of %d: %s", n, columns, line)
			}
		}
		if lines := strings.Count(got, "\n"); lines != len(sessions)+1 || !strings.Contains(got, "01a2002b") {
			t.Errorf("%d columns, %d lines:\n%s", columns, lines, got)
		}
	}
}

func TestLongLinesBreakBetweenWords(t *testing.T) {
	v := &report.Verification{Before: "a-file-with-a-name-that-is-quite-long.jsonl"}
	var b bytes.Buffer
	if err := v.WriteText(&report.Screen{Terminal: &b, Columns: 40}, 10); err != nil {
		t.Fatal(err)
	}
	const want = "no facts to check:\n  a-file-with-a-name-that-is-quite-long.jsonl\n  holds none that must be kept\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
