package anthropic

import (
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
)

// streamed reads a stream, given by the data of its events.
func streamed(events ...string) dialect.Answer {
	r := Dialect{}.ReadAnswer(func(int) bool { return true })
	for _, data := range events {
		name, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
		r.Event([]byte(name), []byte(data))
	}
	return r.Answer()
}

// What is billed is the sum of all passes, and what the context is now the last message pass says.
func TestPasses(t *testing.T) {
	const compaction = `{"type":"compaction","input_tokens":180,"output_tokens":30,"cache_read_input_tokens":1000}`
	message := decant.Usage{Input: 23, Output: 10}
	for _, tt := range []struct {
		name, usage string
		last, extra decant.Usage
	}{
		{"no passes", `"input_tokens":23,"output_tokens":10`, message, decant.Usage{}},
		{"one pass", `"input_tokens":23,"output_tokens":10,"iterations":[{"type":"message","input_tokens":23,"output_tokens":10}]`, message, decant.Usage{}},
		{"a summary before the answer", `"input_tokens":23,"output_tokens":10,"iterations":[` + compaction + `,{"type":"message","input_tokens":23,"output_tokens":10}]`,
			message, decant.Usage{Input: 180, Output: 30, CacheRead: 1000}},
		{"nothing but a summary", `"input_tokens":0,"output_tokens":0,"iterations":[` + compaction + `]`, decant.Usage{}, decant.Usage{Input: 180, Output: 30, CacheRead: 1000}},
		{"several passes of the answer", `"input_tokens":123,"output_tokens":15,"iterations":[{"type":"message","input_tokens":100,"output_tokens":5},` + compaction +
			`,{"type":"message","input_tokens":23,"output_tokens":10}]`, message, decant.Usage{Input: 280, Output: 35, CacheRead: 1000}},
	} {
		r := Dialect{}.ReadAnswer(func(int) bool { return true })
		r.Object([]byte(`{"content":[],"stop_reason":"end_turn","usage":{` + tt.usage + `}}`))
		whole := r.Answer()
		stream := streamed(`{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{`+tt.usage+`}}`, `{"type":"message_stop"}`)
		for _, got := range []dialect.Answer{whole, stream} {
			if got.Usage != tt.last || got.Extra != tt.extra {
				t.Errorf("%s: %+v and %+v, want %+v and %+v", tt.name, got.Usage, got.Extra, tt.last, tt.extra)
			}
		}
		line := `{"custom_id":"a","result":{"type":"succeeded","message":{"model":"m","usage":{` + tt.usage + `}}}}`
		if b, ok := (Dialect{}).BatchResult([]byte(line)); !ok || b.Usage != tt.last.Add(tt.extra) {
			t.Errorf("%s, in a batch: %+v", tt.name, b.Usage)
		}
	}
}

// A summary that comes in a stream is archived as it would stand in an answer that comes whole, and that one as it is.
func TestCompactionInAStream(t *testing.T) {
	for _, tt := range []struct{ name, start, delta, want string }{
		{"at a threshold", `{"type":"compaction","content":null}`, `{"type":"compaction_delta","content":"So \"far\"."}`, `{"type":"compaction","content":"So \"far\"."}`},
		{"encrypted as well", `{"type":"compaction","content":"","encrypted_content":""}`, `{"type":"compaction_delta","content":"a","encrypted_content":"b"}`,
			`{"type":"compaction","content":"a","encrypted_content":"b"}`},
		{"one that failed", `{"type":"compaction","content":null}`, `{"type":"compaction_delta","content":null}`, `{"type":"compaction","content":null}`},
		{"on demand", `{"type":"compaction","content":"a","signature":"c2ln","tool_changes":[]}`, "", `{"type":"compaction","content":"a","signature":"c2ln","tool_changes":[]}`},
	} {
		events := []string{`{"type":"message_start","message":{"usage":{}}}`, `{"type":"content_block_start","index":0,"content_block":` + tt.start + `}`}
		if tt.delta != "" {
			events = append(events, `{"type":"content_block_delta","index":0,"delta":`+tt.delta+`}`)
		}
		got := streamed(append(events, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"compaction"},"usage":{}}`, `{"type":"message_stop"}`)...)
		if string(got.Content) != "["+tt.want+"]" || got.Stop != "compaction" {
			t.Errorf("%s: %s, %q", tt.name, got.Content, got.Stop)
		}
	}
}
