package sandbox_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A talk is a client that keeps a conversation as the blocks it sent and received, byte for byte.
type talk struct {
	t      testing.TB
	url    string
	model  string
	fields string // further members of the body, each with its comma behind
	header []string
	marks  bool // a cache marker on the last block of the last message, as clients do
	msgs   []message
	last   answer
	usage  usage
}

type message struct {
	Role    string
	Content []string // JSON of each block
	results int      // how many of them, at the beginning, are results that bring put there
}

type usage struct {
	Input int `json:"input_tokens"`
	Write int `json:"cache_creation_input_tokens"`
	Read  int `json:"cache_read_input_tokens"`
	Out   int `json:"output_tokens"`
	By    struct {
		Short int `json:"ephemeral_5m_input_tokens"`
		Long  int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// add appends a message of the user.
func (k *talk) add(blocks ...string) {
	k.msgs = append(k.msgs, message{Role: "user", Content: blocks})
}

// say returns a text block.
func say(text string) string {
	b, _ := json.Marshal(text)
	return `{"type":"text","text":` + string(b) + `}`
}

// mark returns a block or tool with a cache marker.
func mark(block, ttl string) string {
	if ttl != "" {
		ttl = `,"ttl":"` + ttl + `"`
	}
	return `{"cache_control":{"type":"ephemeral"` + ttl + `},` + block[1:]
}

func (k *talk) body() string {
	var ms []string
	for i, m := range k.msgs {
		if last := len(m.Content) - 1; k.marks && i == len(k.msgs)-1 {
			m.Content = append(slices.Clone(m.Content[:last]), mark(m.Content[last], ""))
		}
		ms = append(ms, `{"role":"`+m.Role+`","content":[`+strings.Join(m.Content, ",")+`]}`)
	}
	return rule{model: k.model, fields: k.fields, messages: strings.Join(ms, ",")}.body()
}

// send sends the conversation and returns the status.
func (k *talk) send() int {
	k.t.Helper()
	k.last = do(k.t, "POST", k.url+"/v1/messages", k.body(), k.header...)
	return k.last.status
}

// ask sends the conversation, appends the answer, and returns the ids of the calls in it.
func (k *talk) ask() []string {
	k.t.Helper()
	if got := k.send(); got != 200 {
		k.t.Fatalf("message %d: %d %s\n%s", len(k.msgs), got, k.last.body, k.body())
	}
	return k.take()
}

// take appends the answer and returns the ids of the calls in it.
func (k *talk) take() []string {
	var msg struct {
		Content []json.RawMessage
		Usage   usage
	}
	if err := json.Unmarshal([]byte(k.last.body), &msg); err != nil {
		k.t.Errorf("answer %s: %v", k.last.body, err)
	}
	k.usage = msg.Usage
	m := message{Role: "assistant"}
	var calls []string
	for _, b := range msg.Content {
		m.Content = append(m.Content, string(b))
		var use struct{ Type, ID string }
		if json.Unmarshal(b, &use); use.Type == "tool_use" {
			calls = append(calls, use.ID)
		}
	}
	k.msgs = append(k.msgs, m)
	return calls
}

// reply appends the results of calls.
func (k *talk) reply(calls []string, text string) {
	m := message{Role: "user"}
	for _, id := range calls {
		m.Content = append(m.Content, `{"type":"tool_result","tool_use_id":"`+id+`","content":[`+say(text)+`]}`)
	}
	k.msgs = append(k.msgs, m)
}

// turn lets the user say something and plays the turn to its end.
func (k *talk) turn(text string) {
	k.t.Helper()
	k.add(say(text))
	k.finish()
}

// finish plays the current turn to its end.
func (k *talk) finish() {
	k.t.Helper()
	for calls := k.ask(); len(calls) > 0; calls = k.ask() {
		k.reply(calls, "result of "+calls[0])
	}
}

// copy returns a talk that can be changed without changing k.
func (k *talk) copy() *talk {
	c := *k
	c.msgs = nil
	for _, m := range k.msgs {
		c.msgs = append(c.msgs, message{Role: m.Role, Content: slices.Clone(m.Content)})
	}
	return &c
}

// thoughts returns where the thinking blocks are.
func (k *talk) thoughts() (at [][2]int) {
	for i, m := range k.msgs {
		for j, b := range m.Content {
			var block struct{ Type string }
			if json.Unmarshal([]byte(b), &block); block.Type == "thinking" || block.Type == "redacted_thinking" {
				at = append(at, [2]int{i, j})
			}
		}
	}
	return at
}

// without removes the thinking blocks with the given numbers, counted from 0, negative from the end.
func (k *talk) without(numbers ...int) {
	at := k.thoughts()
	for i := range numbers {
		if numbers[i] < 0 {
			numbers[i] += len(at)
		}
	}
	slices.Sort(numbers)
	for _, n := range slices.Backward(numbers) {
		m := &k.msgs[at[n][0]]
		m.Content = slices.Delete(m.Content, at[n][1], at[n][1]+1)
	}
}
