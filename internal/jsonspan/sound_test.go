package jsonspan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/jsonspan"
)

func TestSound(t *testing.T) {
	for in, want := range map[string]string{
		`"plain é 😀"`:                  "",
		`"\u00e9 \ud83d\ude00 \uFFFD"`: "",
		`"\\ud83d"`:                    "", // a backslash and letters
		`"\\\\\\ud83d"`:                "",
		`{"\n\t\"\/":"\\"}`:            "",
		`"a\ud83d"`:                    `"a\ufffd"`,
		`"\uD83D b"`:                   `"\ufffd b"`,
		`"\ude00\ud83d"`:               `"\ufffd\ufffd"`,
		`"\ud83d\ud83d\ude00"`:         `"\ufffd\ud83d\ude00"`,
		`"\\\ud83d\n"`:                 `"\\\ufffd\n"`,
		`"\ud83d\u0041"`:               `"\ufffd\u0041"`,
		`{"\udc00":"\udbff"}`:          `{"\ufffd":"\ufffd"}`,
		"\"a\xed\xa0\xbdb\xff\"":       "\"a\uFFFDb\uFFFD\"",
		"\"\xff \\ud83d\"":             "\"\uFFFD \\ufffd\"",
		`\ud83d`:                       `\ufffd`,
		`\`:                            "",
		`\u`:                           "",
		`\ud8`:                         "",
		"":                             "",
	} {
		src := []byte(in)
		got, n := jsonspan.Sound(src)
		if want == "" {
			want = in
		}
		if string(got) != want || string(src) != in || (n > 0) != (want != in) {
			t.Errorf("%q: got %q with %d replaced, want %q", in, got, n, want)
		}
	}
}

func FuzzSound(f *testing.F) {
	f.Add(`"\ud83d\ude00\ud83d"`)
	f.Add("\"\xed\xa0\xbd\\\\\"")
	f.Fuzz(func(t *testing.T, in string) {
		got, n := jsonspan.Sound([]byte(in))
		again, more := jsonspan.Sound(got)
		if more != 0 || string(again) != string(got) || !utf8.Valid(got) || n == 0 && string(got) != in {
			t.Fatalf("%q became %q (%d), then %q (%d)", in, got, n, again, more)
		}
		var was, is any
		if json.Unmarshal([]byte(in), &was) == nil {
			if err := json.Unmarshal(got, &is); err != nil {
				t.Fatalf("%q became %q: %v", in, got, err)
			}
			if a, ok := was.(string); ok && strings.ToValidUTF8(a, "") != strings.ToValidUTF8(is.(string), "") && utf8.ValidString(in) {
				t.Fatalf("%q says %q and then %q", in, a, is)
			}
		}
	})
}
