package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// reader is a conversation of n rounds, each reading a file of its own and thinking about it.
func reader(n int) *decant.Conversation {
	c := &decant.Conversation{}
	say := func(r decant.Role, bs ...decant.Block) {
		number := len(c.Messages) + 1
		for k := range bs {
			bs[k].Ref = decant.Ref{Message: number, Block: k}
		}
		c.Messages = append(c.Messages, decant.Message{Number: number, Role: r, Blocks: bs})
	}
	say(decant.RoleUser, decant.Block{
		Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("read them all"),
	})
	for i := range n {
		id := fmt.Sprint("call", i)
		args := decant.Text(fmt.Sprintf(`{"file_path":"/repo/part%d.go"}`, i))
		text := strings.Repeat(fmt.Sprintf("func loadPart%d(ctx context.Context) error { return errors.New(partMissing%d) }\n", i, i), 80)
		say(decant.RoleAssistant, decant.Block{Kind: decant.KindThinking, Author: decant.AuthorModel, Signed: true, Content: decant.Text("I should read the next part now.")},
			decant.Block{Kind: decant.KindUse, Author: decant.AuthorModel, Name: "Read", CallID: id, Content: args})
		say(decant.RoleUser, decant.Block{
			Kind: decant.KindResult, Author: decant.AuthorTool, Name: "Read", CallID: id,
			Content: decant.Text(text),
		})
	}
	return c
}

func thinning(t *testing.T, level string) policy.EarlyPour {
	t.Helper()
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.WithEarlyPours(level); err != nil {
		t.Fatal(err)
	}
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := models.Lookup("claude-sonnet-4-5")
	return policy.EarlyPour{Preset: p, Counter: token.For(m)}
}

func TestThinLeavesTheNewestRoundsAlone(t *testing.T) {
	c := reader(12)
	for _, level := range []string{"low", "default", "high"} {
		tt := thinning(t, level)
		keep := tt.Preset.EarlyPours.Settled().Keep
		first := len(c.Messages) - 2*keep // index of the first message of the rounds to keep
		for _, d := range policy.PlanEarly(context.Background(), c, tt) {
			switch {
			case d.Kind == decant.DropThinking && d.Target.Message >= len(c.Messages)-1:
				t.Errorf("%s: thinking of the open round is dropped", level)
			case d.Kind != decant.DropThinking && d.Target.Message > first:
				t.Errorf("%s: m%d is thinned, of %d messages, with %d rounds to keep", level, d.Target.Message,
					len(c.Messages), keep)
			}
		}
	}
}

func TestThinningTwiceChangesNothingMore(t *testing.T) {
	c := reader(12)
	tt := thinning(t, "default")
	before := policy.MeasureEarly(c, tt)
	ds := policy.PlanEarly(context.Background(), c, tt)
	if diff := cmp.Diff(ds, policy.PlanEarly(context.Background(), c, tt)); diff != "" {
		t.Fatalf("the same view was thinned in two ways:\n%s", diff)
	}
	for i := range ds {
		ds[i].ID = fmt.Sprint("d", i)
	}
	view, err := decant.View(c, ds)
	if err != nil {
		t.Fatal(err)
	}
	tt.Transcript, tt.Made = c, ds
	if again := policy.PlanEarly(context.Background(), view, tt); len(again) != 0 {
		t.Errorf("thinned again: %+v", again)
	}
	if after := policy.MeasureEarly(view, tt); before.Freed < 1000 || after.Freed != 0 || after.Carried != 0 {
		t.Errorf("could go %+v before and %+v after", before, after)
	}
}

// What a view has carried grows with every request, and what it could free with every round.
func TestBallastGrows(t *testing.T) {
	tt := thinning(t, "default")
	var last policy.Removable
	for n := 4; n < 12; n++ {
		b := policy.MeasureEarly(reader(n), tt)
		if b.Freed <= last.Freed || b.Carried < last.Carried+b.Freed {
			t.Errorf("after %d rounds what could go is %+v, after %+v the round before", n, b, last)
		}
		last = b
	}
}

func TestNoEarlyPoursWhereTheyAreOff(t *testing.T) {
	tt := thinning(t, "off")
	if b, ds := policy.MeasureEarly(reader(12), tt), policy.PlanEarly(context.Background(), reader(12),
		tt); b != (policy.Removable{}) || ds != nil {
		t.Errorf("could go %+v, %d decisions", b, len(ds))
	}
}

func TestPinnedBlocksAreNotThinned(t *testing.T) {
	c := reader(12)
	tt := thinning(t, "default")
	pin := c.Messages[2].Blocks[0]
	tt.Pinned = map[decant.Ref]decant.Hash{pin.Ref: pin.Hash()}
	for _, d := range policy.PlanEarly(context.Background(), c, tt) {
		if d.Target.Ref == pin.Ref {
			t.Errorf("a pinned block is thinned: %+v", d)
		}
	}
}

func BenchmarkSpare(b *testing.B) {
	c := reader(200)
	n := 0
	for i := range c.Messages {
		for k := range c.Messages[i].Blocks {
			n += c.Messages[i].Blocks[k].Content.Size()
		}
	}
	p, err := preset.Load("default")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		policy.MeasureEarly(c, policy.EarlyPour{Preset: p})
	}
}

// Between two changes of an earlier pour stands a result that it left whole. Later it could go, at the
// price of writing again what the provider's cache holds behind it: only if it frees enough for that.
func TestThinLeavesWhatIsSettled(t *testing.T) {
	for _, c := range []struct {
		name string
		left int // round whose result the earlier pour left
		goes bool
	}{{"LittleBeforeMuch", 1, false}, {"MuchBeforeLittle", 380, true}} {
		t.Run(c.name, func(t *testing.T) {
			conv := reader(400)
			tt := thinning(t, "default")
			whole := conv.With(conv.Messages[:1+2*388])
			left := whole.Messages[2*c.left].Blocks[0].Ref
			var made []decant.Decision
			for _, d := range policy.PlanEarly(context.Background(), whole, tt) {
				if d.Target.Ref != left {
					d.ID, d.Pour = fmt.Sprint("1.", len(made)), "1"
					made = append(made, d)
				}
			}
			view, err := decant.View(conv, made)
			if err != nil {
				t.Fatal(err)
			}
			tt.Transcript, tt.Made = conv, made
			goes, more := false, 0
			for _, d := range policy.PlanEarly(context.Background(), view, tt) {
				goes = goes || d.Target.Ref == left
				more++
			}
			if goes != c.goes || more < 10 {
				t.Errorf("%d decisions more; the result that was left goes: %t, want %t", more, goes, c.goes)
			}
		})
	}
}
