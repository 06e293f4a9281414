package wire_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

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

// Parse tells the format by the content. What it reads can be written back unless the format is an export or a log.
func ExampleParse() {
	for _, name := range []string{
		"../testdata/claude-code-session.jsonl.gz", "../testdata/codex-session.jsonl.gz", "testdata/sessions/pi-tree.jsonl.gz",
		"testdata/bodies/anthropic-session.json", "testdata/bodies/chat-airline.json", "testdata/bodies/responses-session.json",
		"testdata/logs/gemini.json", "testdata/logs/copilot.jsonl.gz",
	} {
		file, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		src, err := wire.Read(file) // unpacks gzip
		if err != nil {
			log.Fatal(err)
		}
		file.Close()
		d, err := wire.Parse(src)
		if err != nil {
			log.Fatal(err)
		}
		out, err := d.Render(d.Conversation)
		fmt.Println(d.Format, len(d.Conversation.Messages), d.Format.Writable(), bytes.Equal(out, src), err)
	}
	// Output:
	// claude-code 138 true true <nil>
	// codex 110 true true <nil>
	// pi 6 true true <nil>
	// anthropic 56 true true <nil>
	// openai-chat 31 true true <nil>
	// openai-responses 35 true true <nil>
	// gemini 8 false true <nil>
	// copilot-cli 13 false true <nil>
}
