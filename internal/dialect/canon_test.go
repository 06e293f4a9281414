package dialect

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// nest returns an object with others inside it, levels deep, the members in an order of chance.
func nest(r *rand.Rand, levels int, shuffled bool) string {
	if levels == 0 {
		return `"the \"heart\" {[ of it"`
	}
	ms := []string{
		`"b":` + nest(r, levels-1, shuffled), `"a":[1,{"x":{},"y":[]}]`, `"content":{"z":"}","c":null}`, `"d":[{"k":[[]]},"\\"]`,
	}
	if shuffled {
		r.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
	}
	return "{" + strings.Join(ms, ", ") + "}"
}

// A block is the same in whatever order its keys stand, however deep they are; and another one when something
// differs there.
func TestIdentityOfWhatIsNestedDeep(t *testing.T) {
	identifier := Identifier{Nested: map[string]bool{"content": true}}
	r := rand.New(rand.NewPCG(1, 2))
	for _, levels := range []int{1, deepFrom - 1, deepFrom, deepFrom + 1, 3 * deepFrom, 2000} {
		block := func(shuffled bool) string {
			return `{"type":"tool_use","id":"t1","name":"x","input":` + nest(r, levels, shuffled) + `,"beside":` + nest(r, 3, shuffled) + `}`
		}
		want := identifier.Identity([]byte(block(false)))
		for range 5 {
			if got := identifier.Identity([]byte(block(true))); got != want {
				t.Fatalf("%d levels: the order of keys makes another block", levels)
			}
		}
		if other := strings.Replace(block(true), "heart", "end", 1); identifier.Identity([]byte(other)) == want {
			t.Errorf("%d levels: another block counts as the same", levels)
		}
	}
}
