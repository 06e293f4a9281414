package transport

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// Objects are counted as a reader of JSON finds them, whatever stands in strings.
func TestObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]string{`"`, `\`, `{`, `}`, "a", "é"}))
		var vs []any
		for range rapid.IntRange(0, 9).Draw(t, "values") {
			s := strings.Join(text.Draw(t, "text"), "")
			vs = append(vs, s, map[string]any{s: map[string]any{}})
		}
		src, err := json.Marshal(vs)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for d := jsontext.NewDecoder(bytes.NewReader(src)); ; {
			token, err := d.ReadToken()
			if err != nil {
				break
			}
			if token.Kind() == '{' {
				want++
			}
		}
		if got := objects(src); got != want {
			t.Errorf("%d objects in %s, want %d", got, src, want)
		}
	})
	for _, broken := range []string{`"`, `"\`, `"\"`, `{"a":"\\`, ``} {
		objects([]byte(broken)) // ends
	}
}

func BenchmarkPlanning(b *testing.B) {
	code := `func main() {\n\tfmt.Println(\"{}\", map[string]any{\"a\": 1})\n}\n`
	for _, c := range []struct{ name, message string }{
		{"Prose", strings.Repeat("The gateway reads each line once. ", 60)},
		{"Code", strings.Repeat(code, 30)},
		{"Tiny", "a"},
	} {
		message := fmt.Sprintf(`{"role":"user","content":"%s"},`, c.message)
		body := []byte(strings.Repeat(message, 1<<20/len(message)))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				planning(body, 2<<30)
			}
		})
	}
}
