package typed_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant/internal/typed"
)

// Each form in which a client returns what the user answered, with the words of the user in it and nothing else.
func TestAnswersWithoutTheClientsWords(t *testing.T) {
	const where, how = "Where should it go?", "How loud?"
	for name, c := range map[string]struct {
		result string
		want   []typed.Answer
	}{
		"2.0.76": {`User has answered your questions: "Where should it go?"="Prompt hook". You can now continue with the user's answers in mind.`,
			[]typed.Answer{{where, "Prompt hook"}}},
		"two": {`User has answered your questions: "Where should it go?"="Prompt hook, early", "How loud?"="Say "hi". Then stop.". You can now continue with the user's answers in mind.`,
			[]typed.Answer{{where, "Prompt hook, early"}, {how, `Say "hi". Then stop.`}}},
		"notes": {`User has answered your questions: "Where should it go?"="Here" user notes: but keep the old one. You can now continue with the user's answers in mind`,
			[]typed.Answer{{where, "Here\nbut keep the old one"}}},
		"preview": {"Your questions have been answered: \"Where should it go?\"=\"Here\" selected preview:\n+---+\n| x |\n+---+ notes: wider, please, \"How loud?\"=\"Low\". You can now continue with these answers in mind.",
			[]typed.Answer{{where, "Here\nwider, please"}, {how, "Low"}}},
		"own words": {`The user answered: "Where should it go?"="see notes: in docs". Read the answers carefully — they may request clarification, changes, or that you not proceed — and follow what they actually say.`,
			[]typed.Answer{{where, "see notes: in docs"}}},
		"only notes": {`The user answered: "Where should it go?"="(notes only)" notes: nowhere, "How loud?"=(no option selected) notes: as it is. Read the answers carefully — they may.`,
			[]typed.Answer{{where, "nowhere"}, {how, "as it is"}}},
		"one text": {"The user responded: ask me tomorrow", []typed.Answer{{where + " " + how, "ask me tomorrow"}}},
		"more, please": {`The user asked for more questions before you proceed. So far they answered: "Where should it go?"="Here". They also wrote: "what about CI?". Call AskUserQuestion again with follow-up questions.`,
			[]typed.Answer{{where, "Here"}, {where + " " + how, "what about CI?"}}},
		"more at once": {"The user asked for more questions before answering. Call AskUserQuestion again now with further questions.", nil},
		"went away": {"No response after 60s — the user may be away from keyboard. Proceed using your best judgment.\n\nBefore going idle the user had selected: \"Where should it go?\"=\"Here\".",
			[]typed.Answer{{where, "Here"}}},
		"away":     {"No response after 60s — the user may be away from keyboard.", nil},
		"nothing":  {"The user did not answer the questions.", nil},
		"copilot":  {"User selected: Here", []typed.Answer{{where + " " + how, "Here"}}},
		"bare":     {"Here", []typed.Answer{{where + " " + how, "Here"}}},
		"declined": {"User declined to answer questions", nil},
		"clarify": {"The user wants to clarify these questions.\n    This means they may have additional information, context or questions for you.\n\n    Questions asked:\n- \"Where should it go?\"\n  Answer: Here\n- \"How loud?\"\n  (No answer provided)",
			[]typed.Answer{{where, "Here"}}},
	} {
		if d := cmp.Diff(c.want, typed.Answers([]string{where, how}, c.result), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestRefusalsHoldTheUsersWords(t *testing.T) {
	const (
		no   = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
		stop = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
		perm = "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). The user said:\n"
		note = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — if they explain what went wrong."
	)
	for result, want := range map[string]string{
		no + "pull first\nthen rebase": "pull first\nthen rebase",
		no + "pull first" + note:       "pull first",
		perm + "not on main":           "not on main",
		stop:                           "",
		"The user said:\nrm -rf":       "",
		no + "The user wants to clarify these questions.\n": "",
		"I quote: " + no + "x":                              "",
	} {
		if got, ok := typed.Refused(result); got != want || got != "" && !ok {
			t.Errorf("%q: %q, want %q", result, got, want)
		}
	}
}
