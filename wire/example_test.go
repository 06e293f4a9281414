package wire_test

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// A decision shortens a tool result. What is written differs from the client's body in that one string.
func ExampleDocument_Render() {
	src := []byte(`{"model": "claude-opus-4-6", "max_tokens": 1024, "messages": [
  {"role": "user", "content": "What is in the file?"},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.txt"}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a very long text"}]}
]}`)
	d, err := wire.Parse(src)
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := decant.View(d.Conversation, []decant.Decision{{
		ID: "d1", Kind: decant.Stub, Text: "[read a.txt]",
		Target: decant.TargetOf(&d.Conversation.Messages[2].Blocks[0]),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := d.Render(view)
	fmt.Println(d.Format, err)
	fmt.Printf("%s\n", out)
	// Output:
	// anthropic <nil>
	// {"model": "claude-opus-4-6", "max_tokens": 1024, "messages": [
	//   {"role": "user", "content": "What is in the file?"},
	//   {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.txt"}}]},
	//   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "[read a.txt]"}]}
	// ]}
}

// Encode writes the same conversation for another API, Text for people.
func ExampleEncode() {
	d, err := wire.Parse([]byte(`{"model":"claude-opus-4-6","max_tokens":1024,"messages":[
		{"role":"user","content":"List the files."},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := wire.Encode(d.Conversation, wire.OpenAIResponses)
	fmt.Println(string(out), err)
	fmt.Print(wire.Text(d.Conversation))
	// Output:
	// {"model":"claude-opus-4-6","max_output_tokens":1024,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"List the files."}]},{"type":"function_call","call_id":"t1","name":"Bash","arguments":"{\"command\":\"ls\"}"},{"type":"function_call_output","call_id":"t1","output":"a.txt"}]} <nil>
	// == m1 user
	// List the files.
	//
	// == m2 assistant
	// Bash {"command":"ls"}
	//
	// == m3 user
	// [result of Bash]
	// a.txt
}
