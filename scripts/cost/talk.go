package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A talk makes conversations out of a recorded session: as long as is asked for, and each with words of its own, so that
// nothing is known from another one.
type talk struct{ recorded []message }

// A message has its blocks as the API has them.
type message struct {
	Role    string           `json:"role"`
	Content []map[string]any `json:"content"`
}

// newTalk reads a session of Claude Code.
func newTalk(file string) (*talk, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t := &talk{}
	for d := json.NewDecoder(z); ; {
		var line struct {
			Type    string
			Message struct{ Content json.RawMessage }
		}
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if line.Type == "user" || line.Type == "assistant" {
			t.say(line.Type, line.Message.Content)
		}
	}
	for !t.complete() {
		t.recorded = t.recorded[:len(t.recorded)-1]
	}
	return t, nil
}

// say adds what a line of a session says to the message that it belongs to. Thoughts are left out: they are signed.
func (t *talk) say(role string, content json.RawMessage) {
	var blocks []map[string]any
	var text string
	if json.Unmarshal(content, &text) == nil {
		blocks = []map[string]any{{"type": "text", "text": text}}
	} else if json.Unmarshal(content, &blocks) != nil {
		return
	}
	blocks = slices.DeleteFunc(blocks, func(b map[string]any) bool { return b["type"] == "thinking" })
	if n := len(t.recorded); n > 0 && t.recorded[n-1].Role == role {
		t.recorded[n-1].Content = append(t.recorded[n-1].Content, blocks...)
	} else if len(blocks) > 0 {
		t.recorded = append(t.recorded, message{role, blocks})
	}
}

// complete reports whether another session may follow: the last message is an answer that calls no tool.
func (t *talk) complete() bool {
	last := t.recorded[len(t.recorded)-1]
	return last.Role == "assistant" && !slices.ContainsFunc(last.Content, func(b map[string]any) bool { return b["type"] == "tool_use" })
}

// messages returns the messages of the n-th conversation, up to the first behind size bytes that asks for an answer.
func (t *talk) messages(n, size int) (out [][]byte) {
	for copy := n * 20; ; copy++ {
		for i, m := range vary(t.recorded, copy) {
			text, err := json.Marshal(m)
			if err != nil {
				panic(err) // it was JSON before
			}
			out = append(out, text)
			if size -= len(text); size <= 0 && t.recorded[i].Role == "user" {
				return out
			}
		}
	}
}

var word = regexp.MustCompile(`[A-Za-z]{6,}`)

// vary changes all longer words and ids of messages in the same way.
func vary(messages []message, n int) (out []message) {
	mark := fmt.Sprintf("%c%c%c", 'a'+n/676%26, 'a'+n/26%26, 'a'+n%26)
	for _, m := range messages {
		v := message{Role: m.Role}
		for _, b := range m.Content {
			v.Content = append(v.Content, varied(b, mark).(map[string]any))
		}
		out = append(out, v)
	}
	return out
}

func varied(v any, mark string) any {
	switch v := v.(type) {
	case string:
		return word.ReplaceAllStringFunc(v, func(w string) string { return w[:4] + mark + w[4:] })
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = varied(out[i], mark)
		}
		return out
	case map[string]any:
		out := maps.Clone(v)
		for key, value := range v {
			switch id, _ := value.(string); {
			case key == "id" || key == "tool_use_id":
				out[key] = id + mark
			case key != "type" && key != "name" && key != "media_type":
				out[key] = varied(value, mark)
			}
		}
		return out
	}
	return v
}

// head is what stands before the messages of a request.
var head = `{"model":"claude-sonnet-4-5","max_tokens":8000,"stream":true,"system":[{"type":"text","text":"` +
	strings.Repeat("You are a careful agent. ", 100) + `","cache_control":{"type":"ephemeral"}}],"tools":[` +
	`{"name":"Bash","description":"Runs a command.","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}],"messages":[`

// body returns the request of messages. It asks for caching as clients do: up to the end.
func (t *talk) body(messages [][]byte) []byte {
	last := messages[len(messages)-1]
	cached := append(bytes.TrimSuffix(slices.Clone(last), []byte("}]}")), `,"cache_control":{"type":"ephemeral"}}]}`...)
	rest := bytes.Join(append(slices.Clone(messages[:len(messages)-1]), cached), []byte(","))
	return slices.Concat([]byte(head), rest, []byte("]}"))
}

// grow returns the requests of the n-th conversation: the first has about size bytes, each one that follows a round more.
func (t *talk) grow(n, size, rounds int) (bodies [][]byte) {
	begin := t.messages(n, size)
	for messages := t.messages(n, size+rounds*8_000); len(bodies) < rounds; {
		bodies = append(bodies, t.body(begin))
		begin = messages[:len(begin)+2]
	}
	return bodies
}

// fresh returns the first requests of n conversations.
func (t *talk) fresh(size, n int) (bodies [][]byte) {
	for i := range n {
		bodies = append(bodies, t.body(t.messages(i, size)))
	}
	return bodies
}
