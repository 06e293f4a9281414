package soak

import (
	"bytes"
	"encoding/json"
)

// reworded adds a text to a message.
func reworded(message []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // of a string: cannot fail
	end := bytes.LastIndex(message, []byte("]}"))
	return append(append(append(bytes.Clone(message[:end]), `,{"type":"text","text":`...), quoted...), "}]}"...)
}

// withoutLimit leaves out max_tokens, which a count does not take.
func withoutLimit(fixed []byte) []byte {
	return bytes.Replace(fixed, []byte(`,"max_tokens":4000`), nil, 1)
}
