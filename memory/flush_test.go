package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/memory"
)

// TestParse reads answers to the prompt of the flush: only lines to save count, and silence is
// a whole line in the prompt's spelling.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		saves  []string
		silent bool
	}{
		"Silent":        {"SILENT", nil, true},
		"Saves":         {"SAVE: prefers tabs\nSAVE:uses Go 1.26\nSILENT\n", []string{"prefers tabs", "uses Go 1.26"}, true},
		"Prose":         {"I will save these:\n- SAVE: prefers tabs\nDone, silently.", []string{"prefers tabs"}, false},
		"Substring":     {"I am SILENT now\nSILENTLY\nsilent\nSILENT.", nil, false},
		"BehindTheEnd":  {"SAVE: one\r\n  SILENT \r\nSAVE: two", []string{"one"}, true},
		"OtherSpelling": {"Save: one\nsave: two\nPLEASE SAVE: three", nil, false},
		"Nothing":       {"SAVE:\nSAVE:   \n", nil, false},
		"Empty":         {"", nil, false},
		"Joiners":       {"SAVE: می\u200cخواهم pass\u200bword\ufe0f", []string{"می\u200cخواهم password"}, false},
		"Control":       {"SAVE: a\tb\x1b[31mred\u202e", []string{"a b [31mred"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			saves, silent := memory.Parse(c.answer, memory.SilentToken)
			if diff := cmp.Diff(c.saves, saves); diff != "" || silent != c.silent {
				t.Errorf("silent %v, want %v; saves (-want +got):\n%s", silent, c.silent, diff)
			}
		})
	}
}

func TestParseIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10 * memory.MaxSaves {
		fmt.Fprintf(&b, "SAVE: %d %s\n", i, strings.Repeat("word ", 300))
	}
	saves, silent := memory.Parse(b.String()+memory.SilentToken, memory.SilentToken)
	if len(saves) != memory.MaxSaves || !silent {
		t.Errorf("%d saves, silent %v", len(saves), silent)
	}
	for _, s := range saves {
		if n := utf8.RuneCountInString(s); n > memory.MaxText {
			t.Errorf("a save has %d characters", n)
		}
	}
}

// An agent that saves with a tool of its own is held to the same bound.
func TestDraftsAreBounded(t *testing.T) {
	texts := make([]string, 3*memory.MaxSaves)
	if n := len(memory.Drafts(texts)); n != memory.MaxSaves {
		t.Errorf("%d drafts, want %d", n, memory.MaxSaves)
	}
}

// FuzzParse guards that no answer breaks the bounds, and that what was saved says the same when it is saved again.
func FuzzParse(f *testing.F) {
	f.Add("SAVE: one\nSILENT")
	f.Add("- SAVE: \xff\u2028x\n* SAVE: SAVE: y")
	f.Fuzz(func(t *testing.T, answer string) {
		saves, silent := memory.Parse(answer, memory.SilentToken)
		seen := strings.Map(func(r rune) rune { // what nobody sees is left out before it is read
			if r > unicode.MaxASCII {
				return -1
			}
			return r
		}, answer)
		if len(saves) > memory.MaxSaves || silent && !strings.Contains(seen, memory.SilentToken) {
			t.Fatalf("%d saves, silent %v", len(saves), silent)
		}
		for _, s := range saves {
			again, _ := memory.Parse("SAVE: "+s, memory.SilentToken)
			if s == "" || strings.ContainsAny(s, "\n\r") || len(again) != 1 || again[0] != s {
				t.Fatalf("%q is saved again as %q", s, again)
			}
		}
	})
}

// TestSecretsNeverEnterMemory has a model save 200 credentials of 20 kinds, as lines of their own and within sentences,
// also where a text is cut. Nothing of them is in what was saved, in its evidence, or in what a model is told of it.
func TestSecretsNeverEnterMemory(t *testing.T) {
	letters := rand.New(rand.NewPCG(1, 2))
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[letters.IntN(len(alphabet))]
		}
		return string(b)
	}
	const any, hex = "ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz0123456789", "0123456789abcdef"
	var texts, values []string
	for kind, form := range []struct{ before, mark, alphabet, after string }{ // forms as in internal/secret
		{"", "sk-ant-api03-", any, ""}, {"", "sk-proj-", any, ""}, {"", "ghp_", any, ""}, {"", "github_pat_", any, ""}, {"", "glpat-", any, ""},
		{"", "xoxb-123456789012-", any, ""}, {"", "npm_", any, ""}, {"", "hf_", any, ""}, {"", "sk_live_", any, ""}, {"", "dckr_pat_", any, ""},
		{"DB_PASSWORD=", "", any, ""}, {"password: ", "", any, ""}, {"Authorization: Bearer ", "", any, ""}, {"aws_secret_access_key = ", "", any, ""},
		{"postgres://app:", "", any, "@db.internal/shop"}, {"api_key=", "", hex, ""}, {"JWT_SIGNING_KEY: ", "", any, ""},
		{"curl -H 'x-api-key: ", "", hex, "' https://x.test"}, {"the token is ", "", any, ""}, {"client_secret: ", "", any, ""},
	} {
		for i := range 10 {
			value := draw(form.alphabet, 40)
			credential := form.before + form.mark + value + form.after
			values = append(values, value)
			texts = append(texts, []string{
				credential, "The deployment of the shop uses " + credential + " until spring", strings.Repeat("a long way ", 90)[:memory.MaxText-20] + " " + credential,
			}[(kind+i)%3])
		}
	}
	o := memory.Origin{Scope: user, Source: memory.Source{Conversation: "c"}, Time: epoch, ID: func() (string, error) { return "m:1", nil }}
	kept := ""
	for i, text := range texts {
		saves, _ := memory.Parse("SAVE: "+text+"\nSILENT", memory.SilentToken)
		for _, drafts := range [][]memory.Draft{memory.Drafts(saves), memory.Drafts([]string{text})} {
			items, err := o.Items(drafts)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				it = memory.Confirm(it, memory.Confirmation{Evidence: text, Time: epoch})
				kept += fmt.Sprintf("%+v\n%s\n", it, memory.Brief([]memory.Item{it}, func(s string) int { return len(s) }, 1<<20))
			}
		}
		for n := len(values[i]); n >= 8; n -= 8 {
			if strings.Contains(kept, values[i][:n]) {
				t.Errorf("%d letters of the credential in %q are kept", n, text)
				break
			}
		}
	}
	if len(values) != 200 || !strings.Contains(kept, "The deployment of the shop uses") || !strings.Contains(kept, "until spring") {
		t.Errorf("%d credentials; what stands around them is lost:\n%.2000s", len(values), kept)
	}
}

// TestPrompts holds the prompt of a flush letter by letter, and says what the other one must: no tools.
func TestPrompts(t *testing.T) {
	const seed = "Pre-compaction memory flush. The session is near its context limit. Review the conversation and save any durable context to memory using save_memory. Include user preferences, decisions, key facts, and anything that should persist. Reply with SILENT after saving, or SILENT if nothing needs saving."
	if memory.ToolPrompt != seed {
		t.Errorf("the prompt for save_memory is\n%s\nwant\n%s", memory.ToolPrompt, seed)
	}
	for _, s := range []string{"SAVE:", memory.SilentToken, "Do not call any tool", "user preferences, decisions, key facts"} {
		if !strings.Contains(memory.Prompt, s) {
			t.Errorf("the prompt lacks %q", s)
		}
	}
}

// TestItemsOfAFlush makes items of what a flush brought: nothing of a credential, and everything with its source.
func TestItemsOfAFlush(t *testing.T) {
	ids := 0
	o := memory.Origin{
		Scope: memory.Scope{Level: memory.Project, Name: "p"}, Source: memory.Source{Conversation: "c", From: 1, To: 40}, Time: epoch,
		ID: func() (string, error) { ids++; return fmt.Sprint("m:", ids), nil },
	}
	drafts := append(memory.Drafts([]string{"prefers tabs", "password: hunter2-Xk9!vQ", "\u200b"}), memory.Draft{Kind: memory.KindTask, Text: "write tests", From: 7})
	got, err := o.Items(drafts)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v; want two items", got, err)
	}
	if got[0].Source != o.Source || got[0].Scope != o.Scope || got[0].Text != "prefers tabs" || !got[0].Created.Equal(epoch) {
		t.Errorf("%+v", got[0])
	}
	if want := (memory.Source{Conversation: "c", From: 7, To: 7}); got[1].Source != want || got[1].Kind != memory.KindTask {
		t.Errorf("%+v, want it from %+v", got[1], want)
	}
	broken := errors.New("no random bytes")
	o.ID = func() (string, error) { return "", broken }
	if _, err := o.Items(drafts); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := o.Items([]memory.Draft{{Kind: "notion", Text: "x"}}); err == nil {
		t.Error("an unknown kind is taken")
	}
}
