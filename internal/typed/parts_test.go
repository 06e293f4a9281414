package typed_test

import (
	"testing"

	"github.com/decantdev/decant/internal/typed"
)

// What an agent program puts beside the user's words is not theirs, and what they typed around it stays to
// the letter. The same text inside a sentence is the user's own, and so is a part that never ends. A program
// that is not known may be any of them.
func TestWhatAProgramAddsIsNotTyped(t *testing.T) {
	for agent, parts := range map[string][]string{
		typed.ClaudeCode: {
			"<system-reminder>\nUse tabs.\n</system-reminder>",
			"<local-command-caveat>Use tabs.</local-command-caveat>",
			"<local-command-stdout>Use tabs.</local-command-stdout>",
			"<command-name>/tabs</command-name>", "<bash-input>tabs</bash-input>",
			"<user-prompt-submit-hook>Use tabs.</user-prompt-submit-hook>",
			"<new-diagnostics>tabs</new-diagnostics>", "<ide_selection>tabs</ide_selection>",
			"[Request interrupted by user for tool use]",
		},
		typed.Codex: {"<environment_context>\n<cwd>/tabs</cwd>\n</environment_context>",
			"<user_instructions>\nUse tabs.\n</user_instructions>", "<turn_aborted>tabs</turn_aborted>"},
		typed.Opencode: {"<system-reminder>\nUse tabs.\n</system-reminder>"},
		typed.Pi:       {`<skill name="tabs">Use tabs.</skill>`, `<file name="tabs">Use tabs.</file>`},
	} {
		for _, part := range parts {
			for text, want := range map[string]string{
				part:                              "",
				part + "\nFix it.":                "Fix it.",
				"Fix it.\n" + part:                "Fix it.",
				"Fix it.\n" + part + "\nAt once.": "Fix it.\n\nAt once.",
				part + part:                       "",
				"Why do I see " + part + "?":      "Why do I see " + part + "?",
				"Fix it.\n" + part[:len(part)-2]:  "Fix it.\n" + part[:len(part)-2],
			} {
				for _, by := range []string{agent, ""} {
					if got := typed.Words(by, text); got != want {
						t.Errorf("by %q: typed of %q is %q, want %q", by, text, got, want)
					}
				}
			}
		}
	}
}
