package layer_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/triage/layer"
)

// Layers are named as settings have them, and a set says itself as it is read.
func TestParse(t *testing.T) {
	for text, want := range map[string]layer.Set{
		"": {}, "all": {}, "none": layer.Only(), "caps": layer.Only(layer.Caps), "budget,caps": layer.Only(layer.Caps, layer.Budget),
		"-budget": layer.Off(layer.Budget), "-thinking, -prior": layer.Off(layer.Prior, layer.Thinking),
	} {
		var names []string
		if text != "" {
			names = strings.Split(text, ",")
		}
		got, err := layer.Parse(names)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
		if again, err := layer.Parse(strings.Split(got.String(), ",")); err != nil || again != got {
			t.Errorf("%v says itself as %q: %v, %v", got, got.String(), again, err)
		}
	}
	for _, text := range []string{"cap", "all,caps", "none,-caps", "caps,-prior", ""} {
		if s, err := layer.Parse(strings.Split(text, ",")); err == nil {
			t.Errorf("%q is taken for %v", text, s)
		}
	}
	for _, l := range layer.All() {
		if s := layer.Off(l); s.On(l) || !(layer.Set{}).On(l) || !layer.Only(l).On(l) || layer.Only().On(l) {
			t.Errorf("%s", l)
		}
	}
}
