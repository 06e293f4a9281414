package replay

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A preset's view is grown from the one before; it must be the view of all decisions.
func TestGrownViewIsTheWholeView(t *testing.T) {
	f, err := os.Open("../testdata/claude-code-session.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := wire.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := wire.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := models.Lookup("claude-opus-4-6")
	est := token.For(m)
	for _, name := range []string{"default:high", "agent-loop", "chat"} {
		policy, err := Parse(name, "")
		if err != nil {
			t.Fatal(err)
		}
		seg := segments(doc.Conversation, est, false)[0]
		seg.fixed = 1000
		p := policy.start(&stage{seg: seg, model: m, window: 50_000, lay: newLayout(est, 1000)}).(*pourer)
		pours := 0
		for q, n := range seg.requests {
			s, err := p.view(n, seg.at[q])
			if err != nil {
				t.Fatal(err)
			}
			if s.reason != "" {
				pours++
			}
			want, err := decant.View(seg.conv.With(seg.conv.Messages[:n]), p.ds)
			if err != nil {
				t.Fatal(err)
			}
			texts := cmp.Transformer("text", func(b decant.Block) string { return string(b.Kind) + b.CallID + b.Changed + b.Text() })
			if diff := cmp.Diff(want.Messages, s.messages, texts, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s, request %d:\n%s", name, q+1, diff)
			}
		}
		if pours == 0 {
			t.Errorf("%s never poured", name)
		}
	}
}
