package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
)

// Thinking that is bound, a round that is always open, and nothing that the provider may clear: every pour is
// a fold, and each is made over the one before.
func TestAFoldOverAFoldIsOneRecord(t *testing.T) {
	k := newDialogue(t, engine.Options{NoEarlyPours: true})
	k.model = "claude-opus-5-5"
	k.extra, k.tools = `"thinking":{"type":"adaptive"},`, bashTool+","+memoryTool
	k.user("Do the work. The password of the vault is in /etc/vault.conf.")
	var folds []*decant.Checkpoint
	for n := 1; n <= 60 && len(folds) < 4; n++ {
		k.ms = append(k.ms,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"What does step %d want?","signature":"c2lnbmVk"},{"type":"text","text":"Step %d."},{"type":"tool_use","id":"call_%d","name":"Bash","input":{"command":"step %d"}}]}`, n, n, n, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%s}]}`, n, quote(output(fmt.Sprintf("call_%d", n), 20))))
		p := k.prepare()
		for _, d := range p.Report.Decisions {
			if d.Reduction == decant.ReductionFold {
				folds = append(folds, d.Checkpoint)
			}
		}
		k.engine.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: p.Report.After, Output: 50}})
		k.engine.Close()
	}
	if len(folds) < 4 {
		t.Fatalf("%d folds in 60 rounds, want 4", len(folds))
	}
	for i, cp := range folds {
		for text, most := range map[string]int{
			"[Record of the conversation so far": 1, "[End of the record.": 1, "== decant": 0,
			"The password of the vault is in": 1,
		} {
			if n := strings.Count(cp.Summary, text); n > most || most == 1 && n == 0 && text[0] == '[' {
				t.Errorf("fold %d has %q %d times, want at most %d", i+1, text, n, most)
			}
		}
		if i > 0 && cp.Folds != folds[i-1].Number {
			t.Errorf("fold %d names %d as the one before, want %d", i+1, cp.Folds, folds[i-1].Number)
		}
	}
}
