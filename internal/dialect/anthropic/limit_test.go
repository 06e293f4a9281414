package anthropic

import (
	"testing"
)

func TestLimitOutput(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		max              int
	}{
		{"Less", `{"max_tokens": 32000 ,"messages":[]}`, `{"max_tokens": 4096 ,"messages":[]}`, 4096},
		{"NeverMore", `{"max_tokens":1000}`, `{"max_tokens":1000}`, 1000},
		{"Budget", `{"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":10000}}`, `{"max_tokens":14096,"thinking":{"type":"enabled","budget_tokens":10000}}`, 14096},
		{"Adaptive", `{"max_tokens":32000,"thinking":{"type":"adaptive"}}`, `{"max_tokens":8192,"thinking":{"type":"adaptive"}}`, 8192},
		{"Disabled", `{"max_tokens":32000,"thinking":{"type":"disabled"}}`, `{"max_tokens":4096,"thinking":{"type":"disabled"}}`, 4096},
		{"Nothing", `{"messages":[]}`, `{"messages":[]}`, 0},
		{"NoNumber", `{"max_tokens":"many"}`, `{"max_tokens":"many"}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := LimitOutput([]byte(c.body), 4096)
			if string(got) != c.want || MaxOutput(got) != c.max {
				t.Errorf("%s of %d tokens, want %s", got, MaxOutput(got), c.want)
			}
		})
	}
}
