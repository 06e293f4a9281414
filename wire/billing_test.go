package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

const plainSystem = `{"type":"text","text":"You are Claude Code.\nBe brief."}`

func versionOf(t *testing.T, system string) decant.Hash {
	t.Helper()
	d, err := wire.ParseAs(wire.Anthropic, fmt.Appendf(nil, `{"model":"m","messages":[{"role":"user","content":"hi"}],"system":%s,"tools":[{"name":"a"}]}`, system))
	if err != nil {
		t.Fatal(err)
	}
	return d.Conversation.Fixed.Version
}

// Claude Code's billing line has other values on every request; it is no part of what the system prompt is.
func TestBillingLinesAreNoPartOfTheVersion(t *testing.T) {
	want := versionOf(t, "["+plainSystem+"]")
	block := func(line string) string { return `[{"type":"text","text":"` + line + `"},` + plainSystem + `]` }
	for name, system := range map[string]string{
		"Hash":       block(`x-anthropic-billing-header: cc_version=2.1.330.98d; cc_entrypoint=cli; cch=3f0c1;`),
		"OtherHash":  block(`x-anthropic-billing-header: cc_version=2.1.330.98d; cc_entrypoint=cli; cch=00000;`),
		"WithoutOne": block(`x-anthropic-billing-header: cc_version=2.1.330.98d; cc_entrypoint=sdk-cli;`),
		"NewerKeys":  block(`x-anthropic-billing-header: cc_version=2.2.0; cc_prev_req=req_011CQ; cc_prompt_id=0b5c-42; cc_turn_index=17; cch=abcde`),
		"NextHeader": block(`x-anthropic-client-note: a=b;c=d/e+f==;`),
		"NewLine":    block(`x-anthropic-billing-header: cch=1;\n`),
		"TwoOfThem":  block(`x-anthropic-billing-header: cch=1;"},{"type":"text","text":"x-anthropic-other: k=v`),
		"InFront":    `[{"type":"text","text":"x-anthropic-billing-header: cch=9;\nYou are Claude Code.\nBe brief."}]`,
		"Marked":     `[{"type":"text","text":"x-anthropic-billing-header: cch=9;","cache_control":{"type":"ephemeral"}},` + plainSystem + `]`,
	} {
		if got := versionOf(t, system); got != want {
			t.Errorf("%s: %s has the version %s, want %s as without the line", name, system, got, want)
		}
	}
}

// Nothing else is taken for a billing line.
func TestOrdinaryPromptsAreNoBillingLines(t *testing.T) {
	for name, pair := range map[string][2]string{
		"OtherHeader":   {`x-request-id: a=1;`, `x-request-id: a=2;`},
		"Prose":         {`x-anthropic-billing-header: see a=1 below`, `x-anthropic-billing-header: see a=2 below`},
		"NoPairs":       {`x-anthropic-billing-header: one`, `x-anthropic-billing-header: two`},
		"MidSentence":   {`Mind x-anthropic-billing-header: cch=1;`, `Mind x-anthropic-billing-header: cch=2;`},
		"UpperCase":     {`X-Anthropic-Rules: a=1`, `X-Anthropic-Rules: a=2`},
		"TooLong":       {`x-anthropic-a: k=` + strings.Repeat("1", 2000), `x-anthropic-a: k=` + strings.Repeat("2", 2000)},
		"RestDiffers":   {`x-anthropic-billing-header: cch=1;\nBe brief.`, `x-anthropic-billing-header: cch=1;\nBe clear.`},
		"EscapeInValue": {`x-anthropic-billing-header: cch=\u0031;`, `x-anthropic-billing-header: cch=\u0032;`},
	} {
		var v [2]decant.Hash
		for i, text := range pair {
			v[i] = versionOf(t, `[{"type":"text","text":"`+text+`"},`+plainSystem+`]`)
		}
		if v[0] == v[1] {
			t.Errorf("%s: %q and %q are one to the version", name, pair[0], pair[1])
		}
	}
	second := `[` + plainSystem + `,{"type":"text","text":"x-anthropic-billing-header: cch=%d;"}]`
	if versionOf(t, fmt.Sprintf(second, 1)) == versionOf(t, fmt.Sprintf(second, 2)) {
		t.Error("a line behind the prompt is left out, too")
	}
}

func FuzzBilling(f *testing.F) {
	f.Add(`x-anthropic-billing-header: cch=1;`)
	f.Add(`x-anthropic-a: b=c\nrest`)
	f.Add(`x-anthropic-`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := wire.ParseAs(wire.Anthropic, []byte(`{"messages":[{"role":"user","content":"hi"}],"system":"`+text+`"}`))
		if err == nil && d.Conversation.Fixed.Version.IsZero() {
			t.Errorf("%q: no version", text)
		}
	})
}
