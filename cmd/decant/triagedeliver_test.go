package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	hub "github.com/decantdev/decant/testing/standin/github"
	"github.com/decantdev/decant/testing/standin/slack"
)

// targets runs stand-ins for Slack and GitHub until the script ends: services OWNER/NAME DIR. Two more commands come with it: posted FILE writes
// what Slack was sent, and issue NUMBER JSON changes an issue, as people do.
func targets(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: services OWNER/NAME DIR")
	}
	chat := slack.New(slack.Options{Token: "xoxb-right", Channels: map[string]string{"C01": "errors"}})
	code, err := hub.New(hub.Options{Repos: map[string]string{args[0]: ts.MkAbs(args[1])}, Token: "ghp-right"})
	ts.Check(err)
	at, chatAt := httptest.NewServer(code), httptest.NewServer(chat)
	ts.Defer(at.Close)
	ts.Defer(chatAt.Close)
	ts.Setenv("GITHUB_API_URL", at.URL+"/")
	ts.Setenv("SLACK_API_URL", chatAt.URL+"/api/")
	ts.SetCmd("posted", func(ts *testscript.TestScript, _ bool, files []string) {
		var b strings.Builder
		for _, m := range chat.Messages() {
			b.WriteString("---- " + m.Thread + "\n" + m.Text + "\n")
		}
		ts.Check(os.WriteFile(ts.MkAbs(files[0]), []byte(b.String()), 0o600))
	})
	ts.SetCmd("issue", func(ts *testscript.TestScript, _ bool, what []string) {
		req, err := http.NewRequest(http.MethodPatch, at.URL+"/repos/"+args[0]+"/issues/"+what[0], strings.NewReader(what[1]))
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer ghp-right")
		resp, err := http.DefaultClient.Do(req)
		ts.Check(err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			ts.Fatalf("issue %s cannot be changed: %s", what[0], resp.Status)
		}
	})
}
