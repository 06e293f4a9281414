package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// A prompt is a program's where the line, the session or the request says that a program typed it. Text that somebody
// else than the user sent is the client's. A person who goes on with a program's session is a person.
func TestPromptsOfProgramsAreScripted(t *testing.T) {
	const claude = `{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"Use tabs."}%s}`
	const codex = `{"type":"session_meta","payload":{"id":"s","source":%s}}` + "\n" +
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Use tabs."}]}}`
	const request = `{"model":"claude-sonnet-4-5","max_tokens":9,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332; cc_entrypoint=%s;"},` +
		`{"type":"text","text":"You are Claude Code"}],"messages":[{"role":"user","content":"Use tabs."}]}`
	for name, c := range map[string]struct {
		format   wire.Format
		src      string
		scripted bool
		author   decant.Author
	}{
		"a person":            {wire.ClaudeCode, fmt.Sprintf(claude, `,"entrypoint":"cli","origin":{"kind":"human"}`), false, decant.AuthorUser},
		"an older client":     {wire.ClaudeCode, fmt.Sprintf(claude, ``), false, decant.AuthorUser},
		"an editor":           {wire.ClaudeCode, fmt.Sprintf(claude, `,"entrypoint":"claude-vscode"`), false, decant.AuthorUser},
		"claude -p":           {wire.ClaudeCode, fmt.Sprintf(claude, `,"entrypoint":"sdk-cli"`), true, decant.AuthorUser},
		"the SDK":             {wire.ClaudeCode, fmt.Sprintf(claude, `,"entrypoint":"sdk-py"`), true, decant.AuthorUser},
		"a daemon":            {wire.ClaudeCode, fmt.Sprintf(claude, `,"entrypoint":"cli","sessionKind":"daemon-worker"`), true, decant.AuthorUser},
		"a link":              {wire.ClaudeCode, fmt.Sprintf(claude, `,"textNotTyped":true`), true, decant.AuthorUser},
		"a sub-agent":         {wire.ClaudeCode, fmt.Sprintf(claude, `,"isSidechain":true`), true, decant.AuthorUser},
		"a peer":              {wire.ClaudeCode, fmt.Sprintf(claude, `,"origin":{"kind":"peer","from":"x"}`), false, decant.AuthorClient},
		"a channel":           {wire.ClaudeCode, fmt.Sprintf(claude, `,"origin":{"kind":"channel"}`), false, decant.AuthorClient},
		"somebody new":        {wire.ClaudeCode, fmt.Sprintf(claude, `,"origin":{"kind":"moon"}`), false, decant.AuthorClient},
		"codex":               {wire.Codex, fmt.Sprintf(codex, `"cli"`), false, decant.AuthorUser},
		"codex exec":          {wire.Codex, fmt.Sprintf(codex, `"exec"`), true, decant.AuthorUser},
		"a sub-agent (codex)": {wire.Codex, fmt.Sprintf(codex, `{"subagent":"review"}`), true, decant.AuthorUser},
		"a request":           {wire.Anthropic, fmt.Sprintf(request, "cli"), false, decant.AuthorUser},
		"a program's request": {wire.Anthropic, fmt.Sprintf(request, "sdk-ts"), true, decant.AuthorUser},
	} {
		doc, err := wire.ParseAs(c.format, []byte(c.src))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m := &doc.Conversation.Messages[len(doc.Conversation.Messages)-1]
		if m.Scripted != c.scripted || m.Blocks[0].Author != c.author {
			t.Errorf("%s: scripted %v by %q, want %v by %q", name, m.Scripted, m.Blocks[0].Author, c.scripted, c.author)
		}
	}
	goneOn := fmt.Sprintf(claude, `,"entrypoint":"sdk-cli"`) + "\n" + strings.Replace(fmt.Sprintf(claude, `,"entrypoint":"cli"`), "u1", "u2", 1)
	doc, err := wire.ParseAs(wire.ClaudeCode, []byte(goneOn))
	if err != nil || doc.Conversation.Messages[1].Scripted {
		t.Errorf("%v: a person goes on with a program's session", err)
	}
}

// The prompt of a slash command, which the client puts behind it, is not the user's. What they type then is.
func TestPromptsOfSlashCommandsAreTheClients(t *testing.T) {
	const src = `{"model":"claude-sonnet-4-5","max_tokens":9,"system":"You are Claude Code","messages":[{"role":"user","content":[
		{"type":"text","text":"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>this branch</command-args>"},
		{"type":"text","text":"You are a reviewer. Never edit."},{"type":"text","text":"and be brief"}]}]}`
	doc, err := wire.ParseAs(wire.Anthropic, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []decant.Author{decant.AuthorUser, decant.AuthorClient, decant.AuthorUser} {
		if got := doc.Conversation.Messages[0].Blocks[k].Author; got != want {
			t.Errorf("block %d by %q, want %q", k, got, want)
		}
	}
}

// A copy of a message in a fork has the identity of the message.
func TestForksKeepTheIdentityOfMessages(t *testing.T) {
	const line = `{"type":"user","uuid":%q,"sessionId":"s","message":{"role":"user","content":"Use tabs."}%s}`
	for _, src := range []string{
		fmt.Sprintf(line, "u1", ""), fmt.Sprintf(line, "u1", `,"forkedFrom":{"sessionId":"r","messageUuid":"u1"}`),
		fmt.Sprintf(line, "u9", `,"forkedFrom":{"sessionId":"r","messageUuid":"u1"}`),
	} {
		doc, err := wire.ParseAs(wire.ClaudeCode, []byte(src))
		if err != nil || doc.Conversation.Messages[0].ID != "u1" {
			t.Errorf("%v: %s: %+v", err, src, doc)
		}
	}
}
