package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
)

// What models wrote is shown with the checkpoint: what it is about, how it was made and by which model, and what it leaves
// out; in JSON as it is.
func TestSegmentsAreShown(t *testing.T) {
	row := report.CheckpointRow{Handle: "c:3", Checkpoint: decant.Checkpoint{
		Number: 3, From: 2, To: 90, Summary: "[Decant record of m2-m90]", Rung: decant.RungPartial,
		Segments: []decant.Segment{
			{From: 2, To: 40, Of: decant.HashText("a"), Text: "It began.", Rung: decant.RungModel, Model: "claude-haiku-4-5\x1b[2J"},
			{From: 41, To: 90, Of: decant.HashText("b"), Text: "它结束了", Rung: decant.RungPartial, Gaps: []decant.Gap{{From: 50, To: 52, Why: "too large"}}},
		},
	}}
	var out bytes.Buffer
	if err := row.WriteText(&out, time.UTC); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m2 to m40  model, 9 characters, by claude-haiku-4-5", "m41 to m90  partial, 4 characters; nothing about m50 to m52: too large"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("the name of a model moves the cursor: %q", out.String())
	}
	b, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	var back report.CheckpointRow
	if err := json.Unmarshal(b, &back); err != nil || len(back.Segments) != 2 || back.Segments[1].Gaps[0] != row.Segments[1].Gaps[0] || back.Segments[0].Of != row.Segments[0].Of {
		t.Errorf("%s: %v", b, err)
	}
}
