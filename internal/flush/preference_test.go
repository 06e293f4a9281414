package flush_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// What the user preferred is saved before the history that says so is compacted, and is
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

// The flush is a turn of the session's own model, with its tools, and not of the model that writes summaries.
func TestMemoryFlushUsesTheSessionsModel(t *testing.T) {
	w := newWorld(t, speaker{}, true)
	w.fill("I prefer tea over coffee. ")
	var sessions, flushes []string
	for _, e := range w.api.Log.Entries() {
		var body struct {
			Model string `json:"model"`
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		said := body.Model
		for _, tool := range body.Tools {
			said += " " + tool.Name
		}
		if e.Header.Get("X-Stainless-Lang") != "" { // own calls are made by the SDK
			flushes = append(flushes, said)
		} else {
			sessions = append(sessions, said)
		}
	}
	if len(flushes) == 0 || len(sessions) == 0 || !strings.Contains(sessions[0], " delete_everything") {
		t.Fatalf("sessions %q, flushes %q", sessions, flushes)
	}
	for _, f := range flushes {
		if f != sessions[0] {
			t.Errorf("a flush is by %q, the session by %q", f, sessions[0])
		}
	}
}
