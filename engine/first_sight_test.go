package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
)

// Fresh results are cut where the preset says how, and nowhere else.
func TestFreshResultsAreCutOnlyWhereThePresetSaysSo(t *testing.T) {
	sizes := preset.Trim{Over: 16_000, Head: 4000, Tail: 4000}
	for name, p := range map[string]*preset.Preset{
		"chat": policyOf(t, "chat"), "orchestrator": policyOf(t, "orchestrator"), "a user's": {Name: "mine"},
		"default": policyOf(t, "default"), "with sizes": {Name: "mine", Reduce: preset.Reduce{First: sizes}},
	} {
		k := newDialogue(t, engine.Options{Preset: p, Window: 200_000})
		k.user("Do the work.")
		k.round(1, output("call_1", 600))
		got := k.prepare()
		cut, want := !bytes.Equal(got.Body, k.body()), name == "default" || name == "with sizes"
		if cut != want {
			t.Errorf("%s: a fresh result of 60 KB is cut: %t, want %t", name, cut, want)
		}
		k.round(2, strings.Repeat("\x1b[32mok\x1b[0m\n", 200)) // what no one can see goes under every preset
		if len(k.prepare().Report.Decisions) == 0 {
			t.Errorf("%s: control sequences stay", name)
		}
	}
}

func policyOf(t *testing.T, name string) *preset.Preset {
	t.Helper()
	p, err := preset.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
