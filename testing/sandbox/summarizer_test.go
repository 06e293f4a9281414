package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// summed asks a Summarizer and returns its text.
func summed(t *testing.T, p *sandbox.Prompt) string {
	t.Helper()
	if p.MaxTokens == 0 {
		p.MaxTokens = 2000
	}
	a, err := sandbox.Summarizer{}.Answer(context.Background(), p)
	if err != nil || len(a.Blocks) != 1 || a.Blocks[0].Kind != decant.KindText {
		t.Fatalf("answer %+v, %v", a, err)
	}
	return a.Blocks[0].Text
}

func userSays(text string) sandbox.Message {
	return sandbox.Message{Role: decant.RoleUser, Blocks: []sandbox.Block{{Kind: decant.KindText, Text: text}}}
}

// talked is a conversation with one thing for each kind of section.
func talked() []sandbox.Message {
	return []sandbox.Message{
		userSays("Migrate the billing service to PostgreSQL. Never touch the table `ledger_2019`."),
		{Role: decant.RoleAssistant, Blocks: []sandbox.Block{
			{Kind: decant.KindText, Text: "I decided on logical replication because the downtime must stay under 30 s."},
			{Kind: decant.KindUse, ID: "t1", Name: "Bash", Input: []byte(`{"command":"cat db/schema.sql"}`)},
		}},
		{Role: decant.RoleUser, Blocks: []sandbox.Block{{Kind: decant.KindResult, ID: "t1", Text: "connect to db-7.example.net:6432 failed: permission denied"}}},
		{Role: decant.RoleAssistant, Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Next I will ask for access to db-7."}}},
	}
}

func TestSummarizerFillsTheSectionsAskedFor(t *testing.T) {
	asks := "Summarize the conversation in at most 500 words, in these sections:\n## Constraints\n## Decisions\n## Errors\n## Next steps\n## Files\n## Weather\nWrap the summary in <summary></summary>."
	p := &sandbox.Prompt{Messages: append(talked(), userSays(asks))}
	got := summed(t, p)
	for heading, holds := range map[string]string{
		"Constraints": "Never touch the table `ledger_2019`", "Decisions": "logical replication", "Errors": "permission denied",
		"Next steps": "ask for access to db-7", "Files": "db/schema.sql", "Weather": "",
	} {
		_, body, ok := strings.Cut(got, "## "+heading+"\n")
		body, _, _ = strings.Cut(body, "\n\n")
		if !ok || !strings.Contains(body, holds) {
			t.Errorf("section %s: %q", heading, body)
		}
	}
	if !strings.HasPrefix(got, "<summary>\n## Constraints") || !strings.HasSuffix(got, "</summary>") {
		t.Error(got)
	}
	if again := summed(t, p); again != got {
		t.Errorf("another time:\n%s", again)
	}
}

func TestSummarizerReadsWhatStandsWithinTags(t *testing.T) {
	text := "Write a summary.\n1. Goal: what the user wants\n2. Facts: exact values\n<transcript>\n[user]: Deploy release 4.7.1 to the staging cluster today, please.\n[assistant]: The build id is 9f31c7aa.\n</transcript>\nNo more than 200 tokens."
	got := summed(t, &sandbox.Prompt{Messages: []sandbox.Message{userSays(text)}})
	if !strings.Contains(got, "1. Goal:\nThe user said: Deploy release 4.7.1") || !strings.Contains(got, "2. Facts:\nThe assistant said: The build id is 9f31c7aa.") {
		t.Error(got)
	}
	if len(got) > 600 {
		t.Errorf("%d bytes", len(got))
	}
}

// Without sections it is a paragraph, and never more than the limit; what tells most stays.
func TestSummarizerKeepsLimits(t *testing.T) {
	var messages []sandbox.Message
	for i := range 200 {
		messages = append(messages, userSays(fmt.Sprintf("Some talk about nothing in particular, number %c%c.", 'a'+i%26, 'a'+i/26)))
	}
	messages[100] = userSays("Always use port 8443 and never restart node-17.")
	for _, asks := range []string{"Summarize in at most 60 words.", "Summarize in under 300 characters.", "Summarize."} {
		p := &sandbox.Prompt{MaxTokens: 100, Messages: append(messages[:200:200], userSays(asks))}
		got := summed(t, p)
		if len(got) > 300 || !strings.Contains(got, "Always use port 8443 and never restart node-17.") || strings.Contains(got, "\n") {
			t.Errorf("%s\n%s", asks, got)
		}
	}
	if got := summed(t, &sandbox.Prompt{}); got != "None." {
		t.Errorf("of nothing: %q", got)
	}
}
