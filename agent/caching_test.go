package agent

import (
	stdjson "encoding/json"
	"strings"
	"testing"
)

// What is kept for an hour is all of a prompt, or what many sessions begin with; or the provider is asked for nothing.
func TestWhatTheProviderIsAskedToKeep(t *testing.T) {
	for name, want := range map[string]struct {
		o           Options
		hour, short int
	}{
		"as usual": {Options{}, 0, 3}, "all for an hour": {Options{LongCache: true}, 3, 0}, "what is fixed for an hour": {Options{LongFixed: true}, 2, 1},
		"nothing": {Options{Unmarked: true, LongCache: true, LongFixed: true}, 0, 0},
	} {
		want.o.Model, want.o.System, want.o.Tools = "m", "Be good.", []Tool{{Name: "t", Schema: stdjson.RawMessage(`{"type":"object"}`)}}
		a := &Agent{opts: want.o}
		body := string(a.body(history{said("Hello.")}, false, thought{most: 100}))
		hour := strings.Count(body, `"ttl":"1h"`)
		if all := strings.Count(body, `"cache_control"`); hour != want.hour || all != want.hour+want.short {
			t.Errorf("%s: %d markers, %d for an hour: %s", name, all, hour, body)
		}
	}
}
