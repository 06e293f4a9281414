package decant_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
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
