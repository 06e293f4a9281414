package jsonspan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// walk lists the value at the scanner: containers by brackets, names with a colon, scalars as written.
func walk(s *Scanner, src []byte, out []string) []string {
	switch kind := s.Kind(); kind {
	case '{', '[':
		out = append(out, string(kind))
		for s.Open(); s.Next(); {
			if kind == '{' {
				out = append(out, string(s.Name())+":")
			}
			out = walk(s, src, out)
		}
		return append(out, "end")
	default:
		return append(out, string(s.Skip().Of(src)))
	}
}

func TestScannerWalksEveryValue(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"Scalar", ` 12 `, `12`},
		{"EmptyObject", `{ }`, `{ end`},
		{"EmptyArray", "[\n]", `[ end`},
		{"Members", `{"a":1,"b" : "x" , "c":null}`, `{ a: 1 b: "x" c: null end`},
		{"Nested", `{"a":[{"b":[]},2],"c":{}}`, `{ a: [ { b: [ end end 2 end c: { end end`},
		{"EscapedName", `{"a\u0062\"":1}`, `{ ab": 1 end`},
		{"NameOfOtherBytes", "{\"\x80b\":1,\"é\":2}", "{ \ufffdb: 1 é: 2 end"},
		{"DuplicateNames", `{"a":1,"a":2}`, `{ a: 1 a: 2 end`},
		{"QuotesInStrings", `["\"","\\","\\\"]",3]`, `[ "\"" "\\" "\\\"]" 3 end`},
		{"LongStringEndingInBackslash", `["` + strings.Repeat("x", 40) + `\\",1]`, `[ "` + strings.Repeat("x", 40) + `\\" 1 end`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Scan([]byte(tt.src), 0)
			got := strings.Join(walk(&s, []byte(tt.src), nil), " ")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestOpenSkipsWhatIsNoContainer(t *testing.T) {
	src := []byte(`{"a":"x","b":2}`)
	var names []string
	s := Scan(src, 0)
	for s.Open(); s.Next(); {
		names = append(names, string(s.Name()))
		for s.Open(); s.Next(); {
			t.Fatal("a scalar has no elements")
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestScannerDoesNotAllocate(t *testing.T) {
	src := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat(`x\n`, 500) + `"}],"n":[1,2,{"a":[]}]}`)
	got := testing.AllocsPerRun(100, func() {
		s := Scan(src, 0)
		for s.Open(); s.Next(); {
			switch string(s.Name()) {
			case "messages":
				for s.Open(); s.Next(); {
					s.Skip()
				}
			default:
				s.Skip()
			}
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}

func TestValidateNamesTheOffset(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"Empty", ``, "offset 0"},
		{"CutOff", `{"a":[1,2`, "offset 9"},
		{"BadLiteral", `{"messages":[nope]}`, "offset 14 (in /messages/0)"},
		{"TwoValues", `{} {}`, "offset 3: more bytes after the JSON value"},
		{"TrailingComma", `[1,]`, "offset 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate([]byte(tt.src))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
	for _, ok := range []string{`{"a":1,"a":2}`, "[\"\xff\"]", " 1 "} {
		if err := Validate([]byte(ok)); err != nil {
			t.Errorf("%q: %v, want it to pass as servers let it pass", ok, err)
		}
	}
}

// tokens lists a value as walk does, as the JSON syntax package reads it.
func tokens(d *jsontext.Decoder, out []string) []string {
	switch kind := d.PeekKind(); kind {
	case '{', '[':
		d.ReadToken()
		out = append(out, string(kind))
		for d.PeekKind() != '}' && d.PeekKind() != ']' {
			if kind == '{' {
				name, _ := d.ReadToken()
				out = append(out, name.String()+":")
			}
			out = tokens(d, out)
		}
		d.ReadToken()
		return append(out, "end")
	default:
		v, _ := d.ReadValue()
		return append(out, string(v))
	}
}

func FuzzScannerReadsWhatJSONTextReads(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x\"",{}],"b":null}`, `[[[]]]`, `{"\ud83d\ude00":"\\"}`, "{\"\x80b\":null}", `{`, `"`, `[1,}`, `{"a"`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s := Scan(src, 0)
		if Validate(src) != nil {
			for s.Open(); s.Next(); { // must end, whatever it yields
				s.Name()
				s.Skip()
			}
			return
		}
		d := jsontext.NewDecoder(strings.NewReader(string(src)), jsontext.AllowDuplicateNames(true),
			jsontext.AllowInvalidUTF8(true))
		if diff := cmp.Diff(tokens(d, nil), walk(&s, src, nil)); diff != "" {
			t.Errorf("the scanner reads %q differently (-jsontext +scanner):\n%s", src, diff)
		}
		if end := strings.TrimLeft(string(src[s.Pos():]), " \t\r\n"); end != "" {
			t.Errorf("the scanner stops before %q", end)
		}
	})
}

func FuzzUnquoteReadsWhatEncodingJSONReads(f *testing.F) {
	for _, s := range []string{`"a"`, `"\n\t\"\\\/\b\f\r"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx\ude00"`, "\"\xff\xfe\"", `"\ud83d\u0041"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := Unquote(raw) // must not panic
		var want string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &want) != nil || raw[len(raw)-1] != '"' {
			return
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	})
}

func FuzzQuoteRoundTrips(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\x00\x1f", "é<>&\u2028", "\xff", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := AppendQuote(nil, s)
		var got string
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%q is written as %q: %v", s, raw, err)
		}
		valid := string([]rune(s)) // each invalid byte becomes U+FFFD
		if got != valid || Unquote(raw) != valid {
			t.Errorf("%q is written as %q and read as %q", s, raw, got)
		}
	})
}

func TestAppendQuoteKeepsWhatJSONAllows(t *testing.T) {
	if got, want := string(AppendQuote(nil, "<é>&\u2028\x01")), "\"<é>&\u2028\\u0001\""; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
