package legal_test

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/token"
)

// An agent was interrupted while a tool ran, and its user went on typing.
func Example() {
	c := &decant.Conversation{Messages: []decant.Message{
		{
			Number: 1, Role: decant.RoleUser,
			Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text("run the tests")}},
		},
		{Number: 2, Role: decant.RoleAssistant, Blocks: []decant.Block{{Kind: decant.KindUse, CallID: "toolu_1", Name: "Bash", Content: decant.Text(`{"command":"go test"}`)}}},
		{
			Number: 3, Role: decant.RoleUser,
			Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text("stop, only this package")}},
		},
	}}
	rules := legal.RulesFor(legal.Messages, token.Model{ID: "claude-opus-5-5", Provider: token.Anthropic},
		decant.ThinkingAdaptive)
	for _, v := range legal.Check(c, rules) {
		fmt.Println(v)
		fmt.Println("can be repaired:", v.Rule == legal.ToolResultMissing)
	}
	ms, repairs := legal.Repair(legal.Messages, c.Messages)
	fmt.Println(repairs[0].Reason)
	fmt.Println(ms[2].Text(decant.KindResult))
	fmt.Println(len(legal.Check(c.With(ms), rules)), "violations")
	// Output:
	// messages[1] (m2) block 0: call toolu_1 has no result in the next message: rule tool-result-missing
	// can be repaired: true
	// the call was interrupted and has no result
	// [decant: this call was interrupted; no result was recorded and its outcome is unknown]
	// 0 violations
}

// Each API has its own form for a call without a result, and its own rule.
func ExampleRepair() {
	block := func(kind decant.Kind, text string) decant.Block {
		return decant.Block{Kind: kind, CallID: "call_1", Name: "shell", Content: decant.Text(text)}
	}
	broken := &decant.Conversation{Messages: []decant.Message{
		{Number: 1, Role: decant.RoleUser, Blocks: []decant.Block{block(decant.KindText, "run the tests")}},
		{Number: 2, Role: decant.RoleAssistant, Blocks: []decant.Block{block(decant.KindUse, `{"command":"go test"}`)}},
		{Number: 3, Role: decant.RoleUser, Blocks: []decant.Block{block(decant.KindText, "stop")}},
	}}
	for _, api := range []legal.API{legal.Messages, legal.Chat, legal.Responses} {
		rules := legal.RulesFor(api, token.Model{}, decant.ThinkingOff)
		found := legal.Check(broken, rules)[0].Rule
		ms, _ := legal.Repair(api, broken.Messages)
		fmt.Println(api, found, len(legal.Check(broken.With(ms), rules)))
	}
	// Output:
	// anthropic tool-result-missing 0
	// openai-chat tool-message-missing 0
	// openai-responses item-output-missing 0
}
