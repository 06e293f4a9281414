package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A model answers requests of the Messages API by a script, and keeps them.
type model struct {
	mu     sync.Mutex
	got    []request
	script []call // what it calls next, one in each answer
	calls  int
	more   chan struct{}
}

// A call is a call of a tool.
type call struct {
	tool  string // the end of its name
	input map[string]any
}

// A request is one that the agent itself has made, with the bytes of its messages.
type request struct {
	tools    []string
	body     string
	messages string
}

func newModel() *model { return &model{more: make(chan struct{}, 1000)} }

// plays sets what the model calls from now on.
func (m *model) plays(script ...call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = script
}

// requests returns what came so far.
func (m *model) requests() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

// ServeHTTP implements http.Handler.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		m.answer(w, body)
	default:
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"not in the script"}}`, http.StatusNotFound)
	}
}

// answer plays the next step of the script.
func (m *model) answer(w http.ResponseWriter, body []byte) {
	var q struct {
		Model    string
		Stream   bool
		Messages json.RawMessage
		Tools    []struct{ Name string }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	got := request{body: string(body), messages: string(q.Messages)}
	for _, t := range q.Tools {
		got.tools = append(got.tools, t.Name)
	}
	block, stop := m.step(got)
	size := len(body) / 4
	usage := map[string]any{"input_tokens": 3, "cache_creation_input_tokens": size / 20, "cache_read_input_tokens": size - size/20, "output_tokens": 20}
	message := map[string]any{"id": fmt.Sprintf("msg_%d", len(m.requests())), "type": "message", "role": "assistant", "model": q.Model, "stop_sequence": nil, "stop_reason": stop, "content": []any{block}, "usage": usage}
	if !q.Stream {
		w.Header().Set("content-type", "application/json")
		json.NewEncoder(w).Encode(message)
		return
	}
	stream(w, message, block, stop)
}

// step keeps a request and returns what is answered. Only requests of the agent itself go on in the script.
func (m *model) step(got request) (block map[string]any, stop string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := map[string]any{"type": "text", "text": "All steps done."}
	if !slices.Contains(got.tools, "Bash") {
		return text, "end_turn"
	}
	m.got = append(m.got, got)
	m.more <- struct{}{}
	if len(m.script) == 0 {
		return text, "end_turn"
	}
	next := m.script[0]
	i := slices.IndexFunc(got.tools, func(name string) bool { return strings.HasSuffix(name, next.tool) })
	if i < 0 {
		m.script = nil
		return map[string]any{"type": "text", "text": "There is no tool " + next.tool}, "end_turn"
	}
	m.script = m.script[1:]
	m.calls++
	return map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%04d", m.calls), "name": got.tools[i], "input": next.input}, "tool_use"
}

// stream writes an answer as events.
func stream(w http.ResponseWriter, message, block map[string]any, stop string) {
	w.Header().Set("content-type", "text/event-stream")
	event := func(kind string, e map[string]any) {
		e["type"] = kind
		b, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	begun := map[string]any{}
	for k, v := range message {
		begun[k] = v
	}
	begun["content"], begun["stop_reason"] = []any{}, nil
	event("message_start", map[string]any{"message": begun})
	empty, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": block["text"]}
	if block["type"] == "tool_use" {
		input, _ := json.Marshal(block["input"])
		empty = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	event("content_block_start", map[string]any{"index": 0, "content_block": empty})
	event("content_block_delta", map[string]any{"index": 0, "delta": delta})
	event("content_block_stop", map[string]any{"index": 0})
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20}})
	event("message_stop", map[string]any{})
}
