package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/wire"
)

// A recording is a session as a client of the Messages API sends it.
type recording struct {
	name     string
	fixed    []byte   // the members of a request before its messages
	messages [][]byte // all, as JSON
	stops    []int    // how many messages each request has
}

// readRecordings reads the sessions of the repository, and those that DECANT_SOAK_SESSIONS names.
func readRecordings(t *testing.T) (out []*recording) {
	t.Helper()
	files := []string{"../testdata/claude-code-session.jsonl.gz", "../testdata/codex-session.jsonl.gz"}
	for _, name := range append(files, filepath.SplitList(os.Getenv("DECANT_SOAK_SESSIONS"))...) {
		r, err := readRecording(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, r)
	}
	return out
}

func readRecording(name string) (*recording, error) {
	doc, err := recorded.Read(name)
	if err != nil {
		return nil, err
	}
	conv := doc.Conversation
	conv.Model, conv.MaxOutput = "claude-sonnet-4-5", 4000
	body, err := wire.Encode(conv.With(conv.Messages), wire.Anthropic)
	if err != nil {
		return nil, err
	}
	return cutRecording(name, body)
}

// cutRecording takes a request apart into those that led to it.
func cutRecording(name string, body []byte) (*recording, error) {
	var q struct {
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	fixed, _, ok := bytes.Cut(body, []byte(`,"messages":[`))
	if !ok {
		return nil, fmt.Errorf("no messages in what was encoded")
	}
	r := &recording{name: filepath.Base(name), fixed: fixed}
	for i, m := range q.Messages {
		r.messages = append(r.messages, m)
		if i > 0 && roleOf(m) == decant.RoleAssistant {
			r.stops = append(r.stops, i)
		}
	}
	return r, nil
}

func roleOf(message []byte) decant.Role {
	var m struct{ Role decant.Role }
	if json.Unmarshal(message, &m) != nil {
		return ""
	}
	return m.Role
}

// blocksOf returns the blocks of a request's messages in the bytes in which they were sent.
func blocksOf(body []byte) (out [][]byte, err error) {
	var q struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	for _, m := range q.Messages {
		if m.Content[0] == '"' {
			out = append(out, m.Content)
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal(m.Content, &list); err != nil {
			return nil, err
		}
		for _, b := range list {
			out = append(out, b)
		}
	}
	return out, nil
}
