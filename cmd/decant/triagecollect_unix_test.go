//go:build unix

package main

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/standin/slack"
)

// Mission 000-37, issue 13 "submit and collect (two cron phases)": the collect that ends a run sends what was found, once.
func TestWhatWasCollectedIsSent(t *testing.T) {
	if testing.Short() {
		t.Skip("a dozen processes")
	}
	f := newField(t, nil)
	chat := slack.New(slack.Options{Token: "xoxb-right", Channels: map[string]string{"C01": "errors"}})
	web := httptest.NewServer(chat)
	t.Cleanup(web.Close)
	settings, err := os.ReadFile(f.file(".decant/triage.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write(".decant/triage.yaml", string(settings)+"slack: {channel: \"#errors\"}\n")
	f.env = append(f.env, "SLACK_BOT_TOKEN=xoxb-right", "SLACK_API_URL="+web.URL+"/api/")
	if r := f.triage(0, nil, "submit", "--since", "2026-10-21", "--max-errors", "1"); r.code != 0 {
		t.Fatalf("submit: exit %d\n%s", r.code, r.errs)
	}
	last := ran{}
	for range 12 {
		if last = f.triage(0, nil, "collect"); last.code != 0 {
			t.Fatalf("collect: exit %d\n%s", last.code, last.errs)
		}
		if !strings.Contains(last.out, "Not ready") {
			break
		}
		if n := len(chat.Messages()); n != 0 {
			t.Fatalf("%d messages before the run has ended", n)
		}
	}
	if n := len(chat.Messages()); n != 2 || !strings.Contains(last.out, "1 investigated") {
		t.Errorf("%d messages, want one about the run and a reply about the error\n%s\n%s", n, last.out, last.errs)
	}
	if r := f.triage(0, nil, "deliver"); r.code != 0 || len(chat.Messages()) != 2 {
		t.Errorf("delivered again: exit %d, %d messages\n%s", r.code, len(chat.Messages()), r.errs)
	}
}
