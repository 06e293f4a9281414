package soak

import (
	"bytes"
	"encoding/json"

	"github.com/decantdev/decant"
)

// reworded adds a text to a message.
func reworded(message []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // of a string: cannot fail
	end := bytes.LastIndex(message, []byte("]}"))
	return append(append(append(bytes.Clone(message[:end]), `,{"type":"text","text":`...), quoted...), "}]}"...)
}

// retold returns a message as it is where a line has gone another way: what the assistant says is said in other words, and
// its calls have other ids. No two answers of a provider have the same, and who has the calls of one has got that answer.
func retold(message []byte, tag string) []byte {
	if roleOf(message) == decant.RoleAssistant {
		message = bytes.ReplaceAll(message, []byte(`{"type":"text","text":"`), []byte(`{"type":"text","text":"In `+tag+`: `))
	}
	for _, member := range []string{`"id":"`, `"tool_use_id":"`} {
		message = bytes.ReplaceAll(message, []byte(member), []byte(member+tag+"_"))
	}
	return message
}

// withoutLimit leaves out max_tokens, which a count does not take.
func withoutLimit(fixed []byte) []byte {
	return bytes.Replace(fixed, []byte(`,"max_tokens":4000`), nil, 1)
}
