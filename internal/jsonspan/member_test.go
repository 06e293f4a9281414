package jsonspan

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Of two members with one name the last counts, as it does for those who read the text.
func TestMember(t *testing.T) {
	for _, tt := range []struct {
		src, name, want, text string
	}{
		{`{"model":"first","n":1,"model":"second"}`, "model", `"second"`, "second"},
		{`{"mo\u0064el" : "a\nb" }`, "model", `"a\nb"`, "a\nb"},
		{` { "a" : { "model": 1 } , "b":[{"model":2}]}`, "model", "", ""},
		{`{"model":null}`, "model", "null", ""},
		{`{"model":"x","model":{"y":1}}`, "model", `{"y":1}`, ""},
		{`["model","x"]`, "model", "", ""},
		{`{}`, "model", "", ""},
		{``, "model", "", ""},
	} {
		src := []byte(tt.src)
		if got := string(Member(src, 0, tt.name).Of(src)); got != tt.want {
			t.Errorf("%s of %s: got %s, want %s", tt.name, tt.src, got, tt.want)
		}
		if got := MemberText(src, tt.name); got != tt.text {
			t.Errorf("text of %s of %s: got %q, want %q", tt.name, tt.src, got, tt.text)
		}
	}
	src := []byte(`[{"a":1},{"a":2,"a":3}]`)
	if got := string(Member(src, 9, "a").Of(src)); got != "3" {
		t.Errorf("in the second element: got %s, want 3", got)
	}
}

// FuzzMember holds Member against a decoder that keeps the last of several members.
func FuzzMember(f *testing.F) {
	f.Add([]byte(`{"model":"a","model":"b"}`))
	f.Add([]byte(`{"model":{"model":1},"x":["model"]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if Validate(src) != nil {
			return
		}
		var want map[string]jsontext.Value
		if json.Unmarshal(src, &want, jsontext.AllowDuplicateNames(true)) != nil { // names that are no text have no one form
			return
		}
		for name, v := range want {
			if got := Member(src, 0, name).Of(src); string(got) != string(v) {
				t.Errorf("%q of %s: got %s, want %s", name, src, got, v)
			}
		}
	})
}
