package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/report"
)

// A memory that was corrected names what has taken its place, and that names it; a rule names the observation that it was.
func TestAMemoryNamesWhatItCorrects(t *testing.T) {
	at := time.Date(2026, 3, 14, 9, 26, 0, 0, time.UTC)
	for want, m := range map[string]report.Memory{
		"archived 2026-03-14 09:26, corrected by m:2": {ID: "m:1", Kind: "memory", Became: "m:2", Archived: at},
		"corrects m:1":            {ID: "m:2", Kind: "memory", From: "m:1"},
		"was the observation m:3": {ID: "m:4", Kind: "rule", From: "m:3"},
	} {
		var out strings.Builder
		if err := m.WriteText(&out, time.UTC); err != nil || !strings.Contains(out.String(), want+"\n") {
			t.Errorf("error %v, want %q in:\n%s", err, want, &out)
		}
	}
	var out strings.Builder
	rule := report.Memory{ID: "m:3", Kind: "observation", Became: "m:4", Escalated: at, Archived: at}
	if err := rule.WriteText(&out, time.UTC); err != nil || strings.Contains(out.String(), "corrected") {
		t.Errorf("error %v: %s", err, &out)
	}
}
