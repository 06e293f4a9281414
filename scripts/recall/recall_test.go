package main

import "testing"

// What an agent needed again is found in real sessions, far more often than by chance.
func TestRecallInRecordedSessions(t *testing.T) {
	for _, file := range []string{"../../testdata/claude-code-session.jsonl.gz", "../../testdata/codex-session.jsonl.gz"} {
		h, err := read([]string{file})
		if err != nil {
			t.Fatal(err)
		}
		results := h.measure(20_000) // the sessions are short
		for _, kind := range kinds {
			r := results[kind]
			t.Logf("%s", r)
			if share := float64(r.found) / float64(r.asked); r.asked < 3 || share < .8 || share < 1.2*r.chance/float64(r.asked) {
				t.Errorf("%s: %s", file, r)
			}
		}
	}
}

// What the questions are made of.
func TestQuestions(t *testing.T) {
	if got := plain("Let me look at `parseCheckpointID` in /src/id.go again."); got != "Let me look at ` ` in again." && got != "Let me look at ` ` in  again." {
		t.Errorf("without exact strings: %q", got)
	}
	if got := partsOf("parseCheckpointID"); len(got) != 3 || got[0] != "parse" || got[2] != "id" {
		t.Errorf("parts: %q", got)
	}
	holders := map[string]int{"parseCheckpointID": 2, "id.go": 1, "everywhere_known": 40}
	if got := rarest("/src/id.go parseCheckpointID everywhere_known 4711 --flag", holders, nil); got != "id.go" {
		t.Errorf("evidence: %q", got)
	}
	if got := rarest("/src/id.go everywhere_known", holders, map[string]bool{"id.go": true}); got != "" {
		t.Errorf("evidence that was shown since: %q", got)
	}
}
