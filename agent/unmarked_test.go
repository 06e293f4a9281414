package agent

import (
	stdjson "encoding/json"
	"github.com/go-json-experiment/json/jsontext"
	"strings"
	"testing"
)

// Markers go with their comma, wherever they stand in a block; what only looks like one stays.
func TestUnmarked(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	for in, want := range map[string]string{
		`{"content":[{"type":"text","text":"a",` + mark + `}]}`:                                   `{"content":[{"type":"text","text":"a"}]}`,
		`{"content":[{` + mark + ` , "type":"text"}, {"type":"text" , ` + mark + `}],"x":1}`:      `{"content":[{ "type":"text"}, {"type":"text"}],"x":1}`,
		`{"content":[{` + mark + `}]}`:                                                            `{"content":[{}]}`,
		`{"content":[{"type":"tool_result","content":[{"text":"a",` + mark + `}],` + mark + `}]}`: `{"content":[{"type":"tool_result","content":[{"text":"a"}]}]}`,
		`{"content":[{"type":"tool_use","input":{"cache_control":{}}}]}`:                          `{"content":[{"type":"tool_use","input":{"cache_control":{}}}]}`,
		`{"content":[{"type":"text","text":"cache_control"}]}`:                                    `{"content":[{"type":"text","text":"cache_control"}]}`,
		`{"content":"\"cache_control\""}`:                                                         `{"content":"\"cache_control\""}`,
	} {
		got, err := unmarked(stdjson.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("unmarked(%s):\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

// What is no message is an error or stays JSON, and nothing panics.
func FuzzUnmarked(f *testing.F) {
	f.Add(`{"content":[{"cache_control":{},"a":1},{"b":[],"cache_control":null}]}`)
	f.Add(`{"content":[{"cache_control":`)
	f.Fuzz(func(t *testing.T, in string) {
		got, err := unmarked(stdjson.RawMessage(in))
		if err == nil && jsontext.Value(in).IsValid(lenient) && !jsontext.Value(got).IsValid(lenient) {
			t.Errorf("unmarked(%s) = %s is not JSON", in, got)
		}
		if err == nil && !strings.Contains(in, "cache_control") && string(got) != in {
			t.Errorf("unmarked(%s) = %s", in, got)
		}
	})
}
