package settings

import (
	"strings"
	"testing"
)

// 002-18, 002-20, 002-22, 002-34: the block of the seed is read as it stands, and what differs from the defaults is in force.
func TestParse(t *testing.T) {
	const seed = `{"other": 1, "compaction": {"enabled": true, "triggers": {
		"sessionTokens": {"enabled": true, "threshold": 80000, "description": "x"},
		"observationAge": {"enabled": true, "archiveAfterDays": 21, "escalateAfterConfirmations": 6},
		"taskArchive": {"enabled": true, "keepRecentCount": 15, "archiveAfterSessions": 30}},
		"summaryModel": "haiku", "summaryPrompt": "Summarize.", "archiveFormat": "markdown-table",
		"preserveTokenMetrics": false, "monthlyReview": false, "auto_escalate": true}}`
	s, found, err := parse([]byte(seed), false)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	want := byDefault()
	want.Threshold, want.ArchiveDays, want.Confirmations, want.KeepTasks, want.AfterSessions = 80000, 21, 6, 15, 30
	want.Model, want.Prompt, want.Metrics, want.Monthly, want.AutoEscalate = "haiku", "Summarize.", false, false, true
	if s != want {
		t.Errorf("got %+v\nwant %+v", s, want)
	}
}

func TestRefusedByName(t *testing.T) {
	for src, want := range map[string]string{
		`{"compaction": {"enbled": true}}`:                                       `"compaction.enbled" is not known`,
		`{"compaction": {"archiveFormat": "json"}}`:                              "compaction.archiveFormat",
		`{"compaction": {"triggers": {"taskArchive": {"keepRecentCount": 0}}}}`:  "compaction.triggers.taskArchive.keepRecentCount",
		`{"compaction": {"triggers": {"sessionTokens": {"threshold": "many"}}}}`: "compaction.triggers.sessionTokens.threshold",
		`{"compaction": {"dir": "../elsewhere"}}`:                                "compaction.dir",
		`{"other": 1}`: `"other"`,
		`[]`:           "not a JSON object",
	} {
		if _, _, err := parse([]byte(src), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", src, err, want)
		}
	}
}
