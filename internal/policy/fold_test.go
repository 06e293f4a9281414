package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A fold says of how many images it is not the record any more. One for a refusal keeps them all, and begins
// where it must.
func TestAFoldTellsOfImages(t *testing.T) {
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}`
	var ms []string
	for i := range 3 {
		ms = append(ms,
			fmt.Sprintf(`{"role":"user","content":[%s,{"type":"text","text":"Part %d."}]}`, image, i),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{}}]}`, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":[%s]}]}`, i, image))
	}
	doc, err := wire.ParseAs(wire.Anthropic, []byte(`{"messages":[`+strings.Join(ms, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	for scope, want := range map[policy.Scope]struct{ from, carried, lost int }{
		policy.Everything:  {1, 2, 4},
		policy.Turn:        {8, 1, 0},
		policy.EveryAnswer: {2, 5, 0},
	} {
		d, ok := policy.Fold(policy.Folding{
			Transcript: doc.Conversation, View: doc.Conversation, Estimator: token.For(token.Model{}),
			Preset: p, Target: 100_000, Refused: scope,
		})
		if !ok {
			t.Fatal("no fold")
		}
		cp := d.Checkpoint
		if cp.From != want.from || cp.To != 9 || len(cp.Carried) != want.carried || cp.Lost != want.lost ||
			strings.Contains(cp.Summary, "left out here: 4.") != (want.lost == 4) {
			t.Errorf("scope %d: m%d to m%d, %d carried, %d lost:\n%s", scope, cp.From, cp.To, len(cp.Carried), cp.Lost,
				cp.Summary)
		}
		if _, err := decant.View(doc.Conversation, []decant.Decision{d}); err != nil {
			t.Error(err)
		}
	}
}
