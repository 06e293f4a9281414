package jsonspan

import (
	"fmt"
	"testing"
)

func TestContainers(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`{}`, `[{0 2}]`},
		{`"a"`, `[]`},
		{`{"a":[1,{"]}":"\"{"},[]],"b":{}},{}`, `[{0 32} {5 24} {8 20} {21 23} {29 31}]`},
		{`[[`, `[{0 2} {1 2}]`},
		{``, `[]`},
	} {
		if got := fmt.Sprint(Containers([]byte(c.src), 0)); got != c.want {
			t.Errorf("%s: %s, want %s", c.src, got, c.want)
		}
	}
}

// They are what a scanner skips.
func FuzzContainers(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"]}":"\"{"},[]],"b":{}}`))
	f.Add([]byte(`[[[{"x":"\\"}]]]`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if Validate(src) != nil {
			return
		}
		for _, s := range Containers(src, skipSpace(src, 0)) {
			if end := skipValue(src, s.Start); end != s.End {
				t.Fatalf("%s: the value at %d ends at %d, not at %d", src, s.Start, end, s.End)
			}
		}
	})
}
