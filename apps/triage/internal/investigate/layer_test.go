package investigate_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// Layers are named as settings have them, and a set says itself as it is read.
func TestParse(t *testing.T) {
	for text, want := range map[string]investigate.LayerSet{
		"": {}, "all": {}, "none": investigate.OnlyLayers(), "caps": investigate.OnlyLayers(investigate.LayerCaps), "budget,caps": investigate.OnlyLayers(investigate.LayerCaps, investigate.LayerBudget),
		"-budget": investigate.WithoutLayers(investigate.LayerBudget), "-thinking, -prior": investigate.WithoutLayers(investigate.LayerPrior, investigate.LayerThinking),
	} {
		var names []string
		if text != "" {
			names = strings.Split(text, ",")
		}
		got, err := investigate.ParseLayers(names)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
		if again, err := investigate.ParseLayers(strings.Split(got.String(), ",")); err != nil || again != got {
			t.Errorf("%v says itself as %q: %v, %v", got, got.String(), again, err)
		}
	}
	for _, text := range []string{"cap", "all,caps", "none,-caps", "caps,-prior", ""} {
		if s, err := investigate.ParseLayers(strings.Split(text, ",")); err == nil {
			t.Errorf("%q is taken for %v", text, s)
		}
	}
	for _, l := range investigate.AllLayers() {
		if s := investigate.WithoutLayers(l); s.On(l) || !(investigate.LayerSet{}).On(l) || !investigate.OnlyLayers(l).On(l) || investigate.OnlyLayers().On(l) {
			t.Errorf("%s", l)
		}
	}
}
