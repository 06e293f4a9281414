package jsonspan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// texts are JSON texts and things that look like some.
var texts = []string{
	``, ` `, `{}`, `[]`, ` { } `, "[\n]", `{"a":1,"a":2}`, `{"a":[1,"x\"",{}],"b":null}`, `[[[]]]`, `{"\ud83d\ude00":"\\"}`, `{`, `"`, `[1,}`, `{"a"`,
	`[1,]`, `{"a":1,}`, `{,}`, `[,1]`, `{"a" 1}`, `{"a":}`, `{a:1}`, `{1:1}`, `{} {}`, `[] x`, `]`, `}`, `[1 2]`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`,
	`0`, `-0`, `01`, `-`, `1.`, `.5`, `1.5`, `1e5`, `1E+5`, `1e-`, `1e`, `-1.25e-3`, `+1`, `1.5.5`, `1e5e5`, `--1`, `0x1`, `[0,1,2]`, `[1e]`, `[-]`,
	`true`, `false`, `null`, `tru`, `nulll`, `[True]`, `[nope]`, `truefalse`, `[true false]`,
	`"\u00e9"`, `"\u00E9"`, `"\ud800"`, `"\u12g4"`, `"\u12`, `"\x"`, `"\`, `"\"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\n\"", "\"\xff\xfe\"", "\"\xe2\x82\"",
	`"1234567\"9"`, `"12345678"`, `"123456\u00zz9"`, "\"1234567\n\"", "\"!!!!!!!#\x1f\"", "\"aaaaaaaa\x80\x80\"", "\xef\xbb\xbf{}",
	strings.Repeat("[", 511) + strings.Repeat("]", 511), strings.Repeat("[", 513) + strings.Repeat("]", 513),
	strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600), strings.Repeat("[", 10_002) + strings.Repeat("]", 10_002),
}

// TestCheckAgreesWithTheSyntaxPackage is about texts that are not nested too deep for the quick check.
func TestCheckAgreesWithTheSyntaxPackage(t *testing.T) {
	for _, src := range texts {
		if strings.Count(src, "[")+strings.Count(src, "{") < maxDepth {
			checkAgrees(t, src)
		}
	}
}

// checkAgrees compares the quick check of a whole text, and of the rest of an array behind an element,
// with what the syntax package says about the text.
func checkAgrees(t *testing.T, src string) {
	t.Helper()
	want := validate([]byte(src))
	end, ok := Check([]byte(src), skipSpace([]byte(src), 0))
	if ok = ok && skipSpace([]byte(src), end) == len(src); ok != (want == nil) {
		t.Errorf("%q: got %v, the syntax package says %v", src, ok, want)
	}
	inner, found := strings.CutPrefix(src, "[0")
	if end, ok := CheckRest([]byte(inner), 0); found && (ok && skipSpace([]byte(inner), end) == len(inner)) != (want == nil) {
		t.Errorf("%q behind its first element: got %v, the syntax package says %v", src, ok, want)
	}
}

func TestValidateGivesTheErrorsOfTheSyntaxPackage(t *testing.T) {
	for _, src := range texts {
		want, got := validate([]byte(src)), Validate([]byte(src))
		if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
			t.Errorf("%.40q: got %v, want %v", src, got, want)
		}
	}
}

func TestSpecialFindsEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range 8 {
			word := []byte("\x80aaz\xff~ !")
			word[at] = byte(c)
			src := append([]byte(`"`), word...)
			want := at
			if c >= ' ' && c != '"' && c != '\\' {
				want = 8
			}
			if got := skipPlain(src, 1) - 1; got != want {
				t.Errorf("byte %#x at %d: got %d, want %d", c, at, got, want)
			}
		}
	}
}

func FuzzCheckAgreesWithTheSyntaxPackage(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Count(src, "[")+strings.Count(src, "{") < maxDepth {
			checkAgrees(t, src)
			checkAgrees(t, "[0"+src)
		}
	})
}

// TestLoopsOfTheWrongKindKeepTheirPlace: a loop that expects an object and meets an array, or the other
// way round, goes on behind it.
func TestLoopsOfTheWrongKindKeepTheirPlace(t *testing.T) {
	for _, inner := range []string{`["role","x",["y"],{"role":1},2]`, `[[]]`, `[["a"]]`, `[{"a":"b"}]`, `[]`, `{"a":{"b":[1,"c"]},"d":"e"}`, `{"a":"]"}`} {
		src := []byte(`{"in":` + inner + `,"out":1}`)
		for _, names := range []bool{true, false} {
			var got []string
			s := Scan(src, 0)
			for s.Open(); s.Next(); {
				name := string(s.Name())
				got = append(got, name)
				if name != "in" {
					s.Skip()
					continue
				}
				for s.Open(); s.Next(); {
					if names {
						s.Name()
					}
					s.Skip()
				}
			}
			if diff := cmp.Diff([]string{"in", "out"}, got); diff != "" {
				t.Errorf("%s, names %v: %s", inner, names, diff)
			}
		}
	}
}
