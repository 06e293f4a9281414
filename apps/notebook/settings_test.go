package notebook

import (
	"strings"
	"testing"
)

// The block of settings is read as it stands, and what differs from the defaults is in force.
func TestParse(t *testing.T) {
	const file = `{"other": 1, "compaction": {"enabled": true, "triggers": {
		"sessionTokens": {"enabled": true, "threshold": 80000, "description": "x"},
		"observationAge": {"enabled": true, "archiveAfterDays": 21, "escalateAfterConfirmations": 6},
		"taskArchive": {"enabled": true, "keepRecentCount": 15, "archiveAfterSessions": 30}},
		"summaryModel": "haiku", "summaryPrompt": "Summarize.", "archiveFormat": "markdown-table",
		"preserveTokenMetrics": false, "monthlyReview": false, "auto_escalate": true}}`
	s, found, err := parseSettings([]byte(file), false)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	want := defaultSettings()
	triggers := &want.Triggers
	triggers.SessionTokens.Threshold, triggers.SessionTokens.Description = 80000, "x"
	triggers.ObservationAge.ArchiveDays, triggers.ObservationAge.Confirmations = 21, 6
	triggers.TaskArchive.Keep, triggers.TaskArchive.AfterSessions = 15, 30
	want.Model, want.Prompt, want.Metrics, want.Monthly, want.AutoEscalate = "haiku", "Summarize.", false, false, true
	if s != want {
		t.Errorf("got %+v\nwant %+v", s, want)
	}
}

// Who writes how many confirmations make a rule gets rules by that number, unless the file asks for a yes.
func TestWrittenNumberEscalates(t *testing.T) {
	for block, want := range map[string]bool{
		`{}`: false,
		`{"triggers": {"observationAge": {"archiveAfterDays": 28}}}`:                                  false,
		`{"triggers": {"observationAge": {"escalateAfterConfirmations": 5}}}`:                         true,
		`{"triggers": {"observationAge": {"escalateAfterConfirmations": 5}}, "auto_escalate": false}`: false,
		`{"auto_escalate": true}`: true,
	} {
		s, _, err := parseSettings([]byte(`{"compaction": `+block+`}`), true)
		if err != nil || s.AutoEscalate != want || (s.Escalates() != "") != want {
			t.Errorf("%s: escalates %v, says %q, %v", block, s.AutoEscalate, s.Escalates(), err)
		}
	}
}

func TestRefusedByName(t *testing.T) {
	for src, want := range map[string]string{
		`{"compaction": {"enbled": true}}`:                                       `"compaction.enbled" is not known`,
		`{"compaction": {"archiveFormat": "json"}}`:                              "compaction.archiveFormat",
		`{"compaction": {"triggers": {"taskArchive": {"keepRecentCount": 0}}}}`:  "compaction.triggers.taskArchive.keepRecentCount",
		`{"compaction": {"triggers": {"sessionTokens": {"threshold": "many"}}}}`: "compaction.triggers.sessionTokens.threshold",
		`{"compaction": {"dir": "../elsewhere"}}`:                                "compaction.dir",
		`{"compaction": {"dir": ".git/hooks"}}`:                                  "compaction.dir",
		`{"other": 1}`:                                                           `"other"`,
		`[]`:                                                                     "not a JSON object",
	} {
		if _, _, err := parseSettings([]byte(src), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", src, err, want)
		}
	}
}

// What the notebook cannot do by itself is said by the name of its key, with what to do.
func TestWhatIsNotInForceIsNamed(t *testing.T) {
	s, _, err := parseSettings([]byte(`{"compaction": {"summaryModel": "haiku", "summaryPrompt": "Be brief.", "triggers": {"sessionTokens": {"threshold": 50000}}}}`), true)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(append(s.Unheeded(), s.Gateway()), "\n")
	for _, want := range []string{`compaction.summaryModel "haiku"`, "compaction.summaryPrompt", "--preset coding-session-50"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %s:\n%s", want, all)
		}
	}
	if ask := s.Ask(); !strings.Contains(ask, "Be brief.") || !strings.Contains(ask, "<summary>") {
		t.Errorf("a model would be asked %q", ask)
	}
	d := defaultSettings()
	if len(d.Unheeded()) > 0 || d.Gateway() != "" {
		t.Error("the defaults are said not to be in force")
	}
	d.Triggers.SessionTokens.Threshold = 80_000
	if !strings.Contains(d.Gateway(), "tokens: 80000") {
		t.Error(d.Gateway())
	}
}
