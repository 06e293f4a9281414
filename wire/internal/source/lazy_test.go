package source

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a text holds it may hold, however its source is escaped.
func TestMayHold(t *testing.T) {
	alphabet := rapid.StringOfN(rapid.SampledFrom([]rune("ab/.\\\"<&\nu0é")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		text := alphabet.Draw(t, "text")
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "slashes") {
			raw = []byte(strings.ReplaceAll(string(raw), "/", `\/`))
		}
		if rapid.Bool().Draw(t, "parts") {
			raw = []byte(`[{"type":"text","text":` + string(raw) + `}]`)
		}
		for _, form := range []Form{FormText, FormRaw} {
			l := NewLazy(raw, form)
			all := l.Text()
			from := rapid.IntRange(0, len(all)).Draw(t, "from")
			part := all[from:rapid.IntRange(from, len(all)).Draw(t, "to")]
			if !l.MayHold(part) {
				t.Fatalf("%s does not hold %q", raw, part)
			}
		}
	})
	for _, source := range []string{`"as it is"`, `[{"type":"text","text":"as it is\n"}]`} {
		l := NewLazy([]byte(source), FormText)
		if l.MayHold("as it was") {
			t.Errorf("%s holds what it does not", source)
		}
	}
}
