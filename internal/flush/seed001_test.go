package flush_test

import (
	"strings"
	"testing"
)

// The integration test of seed 001 (001-33): what the user preferred is saved before the history that says so is compacted, and is
// still there afterwards.
func TestFlushThenCompactPreservesLtm(t *testing.T) {
	w := newWorld(t, speaker{}, true)
	done := w.fill("I prefer tea over coffee. ")
	if len(done) == 0 || done[0].Cycle != 0 || done[0].By != "model" {
		t.Fatalf("flushes: %+v", done)
	}
	if got := w.texts(); !strings.Contains(got, "I prefer tea over coffee") {
		t.Errorf("remembered: %q", got)
	}
	flushed, compacted := 0, 0
	for _, e := range w.api.Log.Entries() {
		body := string(e.Body)
		switch {
		case e.Header.Get("X-Stainless-Lang") != "": // own calls are made by the SDK
			flushed++
			if !strings.Contains(body, "I prefer tea over coffee. The weather on day 0") {
				t.Error("the flush did not see the history")
			}
		case strings.Contains(body, "[Session compacted. Summary of prior conversation:]"):
			compacted++
		}
	}
	if flushed != 1 || compacted == 0 {
		t.Errorf("flushed %d times, %d requests had the summary", flushed, compacted)
	}
}
