package jsonspan

import (
	"encoding/binary"
	"math/bits"
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

// checkAgrees compares the quick check of a text with what the syntax package says about it.
func checkAgrees(t *testing.T, src string) {
	t.Helper()
	want := validate([]byte(src))
	end := checkValue([]byte(src), skipSpace([]byte(src), 0), 0)
	if ok := end >= 0 && skipSpace([]byte(src), end) == len(src); ok != (want == nil) {
		t.Errorf("%q: got %v, the syntax package says %v", src, ok, want)
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
			m, want := special(binary.LittleEndian.Uint64(word)), c < ' ' || c == '"' || c == '\\'
			if got := m != 0; got != want {
				t.Errorf("byte %#x at %d: got %v, want %v", c, at, got, want)
			}
			if first := bits.TrailingZeros64(m) >> 3; want && first != at {
				t.Errorf("byte %#x at %d: found at %d", c, at, first)
			}
		}
	}
}

// read consumes the next value as the bits of how tell: as an object, as an array, or as a whole.
func read(s *Scanner, how *uint64) {
	way := *how & 3
	*how = *how>>2 | way<<62
	if way == 0 {
		s.Skip()
		return
	}
	for s.Open(); s.Next(); {
		if way == 1 {
			s.Name()
		}
		read(s, how)
	}
}

// readKind consumes the next value as what it is.
func readKind(s *Scanner) {
	object := s.Kind() == '{'
	for s.Open(); s.Next(); {
		if object {
			s.Name()
		}
		readKind(s)
	}
}

// checkedAgrees compares a scanner that checks with the syntax package: what it accepts is valid, however
// it is read, and what is valid and not too deep it accepts when it is read as what it is.
func checkedAgrees(t *testing.T, src string, how uint64) {
	t.Helper()
	want := validate([]byte(src))
	s := Checked([]byte(src))
	if read(&s, &how); s.End() && want != nil {
		t.Errorf("%q: the scanner accepts it, the syntax package says %v", src, want)
	}
	s = Checked([]byte(src))
	if readKind(&s); s.End() != (want == nil) && strings.Count(src, "[")+strings.Count(src, "{") < 60 {
		t.Errorf("%q: the scanner says %v, the syntax package %v", src, s.End(), want)
	}
}

func TestCheckedAgreesWithTheSyntaxPackage(t *testing.T) {
	for _, src := range append(texts, `{"a"}`, `{"a","b"}`, `{1}`, `{"a":"b":1}`, `{"a":{"b"}}`, `["a":1]`, `[{"a":1]}`, `{"a":[1}]`, `[,]`, `{"a":1,,"b":2}`, `[[1][2]]`, `[1[2]]`) {
		for how := range uint64(64) {
			checkedAgrees(t, src, how*0x0041041041041041)
		}
	}
}

func TestFailedScannerReturnsNothing(t *testing.T) {
	s := Checked([]byte(`{"a":[1,x],"b":2}`))
	for s.Open(); s.Next(); {
		if string(s.Name()) != "a" {
			t.Fatal("it goes on behind the error")
		}
		if got := s.Skip(); !got.IsZero() {
			t.Errorf("got %v", got)
		}
	}
	if !s.Failed() || s.End() || s.Name() != nil || !s.Skip().IsZero() || s.Kind() != 0 || s.Next() {
		t.Error("it did not fail for good")
	}
}

func FuzzCheckedAgreesWithTheSyntaxPackage(f *testing.F) {
	for i, s := range texts {
		f.Add(s, uint64(i)*0x9E3779B97F4A7C15)
	}
	f.Fuzz(checkedAgrees)
}

func FuzzCheckAgreesWithTheSyntaxPackage(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Count(src, "[")+strings.Count(src, "{") < maxDepth {
			checkAgrees(t, src)
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
