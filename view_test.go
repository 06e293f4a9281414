package decant_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/testkit"
	"pgregory.net/rapid"
)

func talk(words string) *decant.Conversation {
	return &decant.Conversation{Messages: script(words)}
}

// lines prints a view, one message a line.
func lines(c *decant.Conversation) string {
	var out strings.Builder
	for i := range c.Messages {
		m := &c.Messages[i]
		fmt.Fprintf(&out, "%s %s:", m.Name(), m.Role)
		for _, b := range m.Blocks {
			fmt.Fprintf(&out, " %s[%s]", b.Kind, b.Text())
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func TestView(t *testing.T) {
	c := talk("u a:1 t:1 a:2 t:2 u a")
	stub := decant.Decision{ID: "1", Kind: decant.Stub, Target: decant.TargetOf(&c.Messages[2].Blocks[0]), Text: "short"}
	newer := decant.Decision{ID: "2", Kind: decant.Stub, Target: stub.Target, Text: "shorter"}
	cover := decant.Decision{ID: "3", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{Number: 1, From: 2, To: 3, Summary: "sum"}}
	drop := decant.Decision{ID: "4", Kind: decant.DropThinking, Target: decant.TargetOf(&c.Messages[6].Blocks[0])}
	appended := cover
	appended.Checkpoint = &decant.Checkpoint{Number: 1, From: 2, To: 6, Summary: "sum", Placement: decant.PlaceAppend}
	for _, x := range []struct {
		name      string
		decisions []decant.Decision
		want      string // lines that must be there
		gone      string // text that must not
	}{
		{"Verbatim", nil, "m3 tool: result[result of 1 in m3]", "short"},
		{"Edited", []decant.Decision{stub}, "m3 tool: result[short]", "result of 1"},
		{"NewestEditWins", []decant.Decision{stub, newer}, "m3 tool: result[shorter]", "[short]"},
		{"Revoked", []decant.Decision{stub, {Kind: decant.Revoke, Revokes: "1"}}, "m3 tool: result[result of 1 in m3]", "short"},
		{"Covered", []decant.Decision{stub, cover}, "m1 user: text[say u]\ndecant user: text[sum]\nm4 assistant", "short"},
		{"Appended", []decant.Decision{appended}, "m1 user: text[say u] text[sum]\nm7 assistant", "m2"},
		{"EmptyMessageVanishes", []decant.Decision{drop}, "m6 user", "m7"},
	} {
		t.Run(x.name, func(t *testing.T) {
			v, err := decant.View(c, x.decisions)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(v)
			if !strings.Contains(got, x.want) || strings.Contains(got, x.gone) {
				t.Errorf("view:\n%swant %q in it and %q not", got, x.want, x.gone)
			}
		})
	}
}

func TestViewRefusesChangedContent(t *testing.T) {
	c := talk("u a:1 t:1 a")
	target := decant.TargetOf(&c.Messages[2].Blocks[0])
	target.Hash = decant.HashText("something else")
	for _, d := range []decant.Decision{
		{ID: "1", Kind: decant.Stub, Target: target, Text: "x"},
		{ID: "2", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{From: 2, To: 9}},
	} {
		if _, err := decant.View(c, []decant.Decision{d}); !errors.Is(err, decant.ErrStale) {
			t.Errorf("%s on other content: error %v, want ErrStale", d.Kind, err)
		}
	}
}

// Invariant 3: every block is verbatim, replaced by its newest live edit, dropped, or covered; and
// the conversation itself never changes.
func TestEveryBlockIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &decant.Conversation{Messages: conversations().Draw(t, "messages")}
		before := lines(c)
		newest := map[decant.Ref]string{}
		var ds []decant.Decision
		for i := range c.Messages {
			for k := range c.Messages[i].Blocks {
				b := &c.Messages[i].Blocks[k]
				for n := range rapid.IntRange(0, 2).Draw(t, "edits") {
					d := decant.Decision{ID: fmt.Sprint(len(ds)), Kind: decant.Shrink, Target: decant.TargetOf(b), Text: fmt.Sprintf("edit %d", n)}
					ds = append(ds, d)
					newest[b.Ref] = d.Text
				}
			}
		}
		v, err := decant.View(c, ds)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range v.Messages {
			for _, b := range m.Blocks {
				orig := c.Messages[b.Ref.Message-1].Blocks[b.Ref.Block]
				want, edited := newest[b.Ref]
				if !edited {
					want = orig.Text()
				}
				if b.Text() != want || edited != (b.Changed != "") {
					t.Fatalf("block %+v is %q (changed by %q), want %q", b.Ref, b.Text(), b.Changed, want)
				}
			}
		}
		if lines(c) != before {
			t.Fatal("View changed the conversation")
		}
	})
}

// held is the content of a result with images in it.
type held struct {
	decant.Content
	images int
}

func (h held) Held() (out []decant.Block) {
	for i := range h.images {
		out = append(out, decant.Block{Kind: decant.KindImage, Content: decant.Text(fmt.Sprintf("image %d", i)), Media: decant.Media{Count: 1}})
	}
	return out
}

// What the provider leaves out has its placeholder in the view, images and all; what is sent is as it was.
func TestNativeDecisions(t *testing.T) {
	c := talk("u a:1 t:1 a:2 t:2")
	c.Messages[2].Blocks[0].Content = held{decant.Text("seen"), 2}
	c.Messages[2].Blocks[0].Media = decant.Media{Count: 2}
	first, last := &c.Messages[2].Blocks[0], &c.Messages[4].Blocks[0]
	ds := []decant.Decision{
		{ID: "1", Kind: decant.Native, Target: decant.TargetOf(first), Text: "cleared"},
		{ID: "2", Kind: decant.Insert, Target: decant.TargetOf(last), Text: "what was cleared", Carried: []decant.Ref{first.Ref}},
	}
	v, err := decant.View(c, ds)
	if err != nil {
		t.Fatal(err)
	}
	const inserted = "result[result of 2 in m5] text[what was cleared] image[image 0] image[image 1]\n"
	if got := lines(v); !strings.Contains(got, "m3 tool: result[cleared]\n") || !strings.HasSuffix(got, inserted) {
		t.Errorf("view:\n%s", got)
	}
	if b := v.Messages[2].Blocks[0]; b.Media.Count != 0 || b.Changed != "1" {
		t.Errorf("the cleared result is %+v", b)
	}
	sent, err := decant.View(c, decant.Sent(ds))
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(sent); !strings.Contains(got, "m3 tool: result[seen]\n") || !strings.HasSuffix(got, inserted) {
		t.Errorf("sent:\n%s", got)
	}
	undone, err := decant.View(c, append(ds, decant.Decision{Kind: decant.Revoke, Revokes: "2"}))
	if err != nil || strings.Contains(lines(undone), "what was cleared") {
		t.Errorf("a revoked insert is still there: %v\n%s", err, lines(undone))
	}
	ds[1].Target.Hash = decant.HashText("something else")
	if _, err := decant.View(c, ds); !errors.Is(err, decant.ErrStale) {
		t.Errorf("an insert behind other content: %v, want ErrStale", err)
	}
}

// A result of the server goes with its call, wherever a checkpoint ends.
func TestServedResultsGoWithTheirCalls(t *testing.T) {
	c := talk("u a:+8,+9,1 t:1 a:-9,+7,2 t:2 a:-7,-8 u")
	for to, want := range map[int]string{
		3: "m4 assistant: text[do] opaque[{}] use[{}]\nm5 tool: result[result of 2 in m5]\nm6 assistant: text[do] opaque[{}]\n",
		5: "m6 assistant: text[do]\n",
	} {
		v, err := decant.View(c, []decant.Decision{{ID: "1", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{From: 1, To: to, Summary: "sum"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(v); !strings.Contains(got, want) {
			t.Errorf("m1 to m%d are covered:\n%swant\n%s", to, got, want)
		}
	}
}

// Rounds that stay in a covered range have a place in a conversation that the API accepts: their calls are
// answered, and they are never the last that was said.
func TestCoveredRoundsThatStay(t *testing.T) {
	c := talk("u a:1 t:1 a:2 t:2 a:3 t:3 u")
	const kept = "m4 assistant: text[do] use[{}]\nm5 tool: result[result of 2 in m5]\n"
	for _, x := range []struct {
		name string
		cp   decant.Checkpoint
		want string
	}{
		{"Message", decant.Checkpoint{From: 2, To: 5}, "m1 user: text[say u]\n" + kept + "decant assistant: text[Noted.]\ndecant user: text[sum]\nm6 assistant"},
		{"FirstOfAll", decant.Checkpoint{From: 1, To: 5}, "decant user: text[[The conversation so far is recorded below.]]\n" + kept + "decant assistant: text[Noted.]\ndecant user: text[sum]\nm6 assistant"},
		{"Everything", decant.Checkpoint{From: 1, To: 7}, "decant user: text[[The conversation so far is recorded below.]]\n" + kept + "decant assistant: text[Noted.]\ndecant user: text[sum]\nm8 user"},
		{"Appended", decant.Checkpoint{From: 2, To: 5, Placement: decant.PlaceAppend}, "m1 user: text[say u]\n" + kept + "decant assistant: text[Noted.]\ndecant user: text[sum]\nm6 assistant"},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.cp.Number, x.cp.Summary, x.cp.Kept = 1, "sum", []int{4, 5}
			v, err := decant.View(c, []decant.Decision{{ID: "1", Kind: decant.Cover, Checkpoint: &x.cp}})
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(v); !strings.Contains(got, x.want) {
				t.Errorf("view:\n%swant\n%s", got, x.want)
			}
		})
	}
}

func TestViewOfManyRoundsThatStay(t *testing.T) {
	testkit.Linear(t, 256, func(n int) func() {
		c := talk(strings.Repeat("u a ", n/2))
		kept := make([]int, n)
		for i := range kept {
			kept[i] = i + 1
		}
		ds := []decant.Decision{{ID: "1", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{Number: 1, From: 1, To: n, Summary: "s", Kept: kept}}}
		return func() {
			if v, err := decant.View(c, ds); err != nil || len(v.Messages) < n {
				t.Fatal(err, len(v.Messages), n)
			}
		}
	})
}
