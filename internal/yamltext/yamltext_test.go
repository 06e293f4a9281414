package yamltext_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/yamltext"
)

// What nests too much is refused before it takes time. The parser would take minutes for each of these.
func TestNestingIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 100_000), "closed": strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000),
		"braces": strings.Repeat("{", 100_000), "brackets on lines": strings.Repeat("[\n", 60_000), "items": strings.Repeat("- ", 60_000) + "x",
		"keys": strings.Repeat("a: ", 40_000), "questions": strings.Repeat("? ", 50_000), "anchors": strings.Repeat("&a ", 40_000),
	} {
		var v any
		if err := yamltext.Unmarshal([]byte(text), &v); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := yamltext.Parse([]byte(text)); err == nil {
			t.Errorf("%s: parsed", name)
		}
	}
}

// What people write is read.
func TestOrdinaryTextIsRead(t *testing.T) {
	text := "a: [" + strings.Repeat("{b: [1, 2]}, ", 200) + "]\nc: |\n" + strings.Repeat("  if x[i] { y[j] = map[string]int{} }\n", 500)
	var v struct{ A []map[string][]int }
	if err := yamltext.Unmarshal([]byte(text), &v); err != nil || len(v.A) != 200 {
		t.Errorf("%d, %v", len(v.A), err)
	}
	if err := yamltext.Unmarshal(nil, &v); err != nil {
		t.Errorf("an empty text: %v", err)
	}
}
