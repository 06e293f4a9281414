package typed_test

import (
	"testing"

	"github.com/decantdev/decant/internal/typed"
)

// A slash command is a request: its name with what the user typed behind it, in all layouts of Claude Code's. One that
// only steers the client asks for nothing.
func TestSlashCommandsAreRequests(t *testing.T) {
	const caveat = "<local-command-caveat>Caveat: these ran locally.</local-command-caveat>\n"
	for text, want := range map[string]string{
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>this branch</command-args>":                       "/review this branch",
		"<command-message>review is running…</command-message>\n<command-name>/review</command-name>":                                                     "/review",
		"<command-name>/exit</command-name>\n            <command-message>exit</command-message>\n            <command-args></command-args>":              "",
		"<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args>keep X</command-args>":  "/compact keep X",
		"<command-message>fix</command-message><command-name>/fix</command-name><command-args>the </command-args> tag\n</command-args>":                   "/fix the </command-args> tag",
		"<command-message>pdf</command-message>\n<command-name>pdf</command-name>\n<skill-format>true</skill-format>\n<command-args>a.pdf</command-args>": "pdf a.pdf",
		"<system-reminder>\nUse tabs.\n</system-reminder>\n<command-message>go</command-message>\n<command-name>/go</command-name>":                       "/go",
		caveat + "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>":                           "",
		"What does <command-name>/x</command-name> mean?":                            "What does <command-name>/x</command-name> mean?",
		"<command-message>x</command-message>\n<command-name>/x</command-name>\nSo?": "/x\nSo?",
	} {
		for _, agent := range []string{typed.ClaudeCode, ""} {
			if got := typed.Words(agent, text); got != want {
				t.Errorf("by %q: %q is %q, want %q", agent, text, got, want)
			}
		}
		if got := typed.Words(typed.Codex, text); text[0] == '<' && text[1] == 'c' && got != text {
			t.Errorf("by Codex: %q is %q", text, got)
		}
	}
}

func TestPromptsFollowCommandsThatGoToTheModel(t *testing.T) {
	for text, want := range map[string]bool{
		"<command-message>review</command-message>\n<command-name>/review</command-name>": true,
		"<command-name>/exit</command-name>\n<command-message>exit</command-message>":     false,
		"Review <command-message>": false,
	} {
		if typed.Prompts(typed.ClaudeCode, text) != want || typed.Prompts(typed.Codex, text) {
			t.Errorf("%q: want %v of Claude Code's, and none of Codex's", text, want)
		}
	}
}
