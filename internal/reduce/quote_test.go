package reduce

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
)

// source is a file with functions, most of which nobody else mentions.
func source(funcs int) string {
	var out strings.Builder
	for i := range funcs {
		fmt.Fprintf(&out, "%6d→func (s *Store) loadCheckpoint%d(ctx context.Context) error { // reads the checkpoint from disk\n%6d→\treturn nil\n", 2*i+1, i, 2*i+2)
	}
	return out.String()
}

func reading() *decant.Conversation {
	return conversation([]txtar.File{
		{Name: "user", Data: []byte("fix the store")},
		{Name: `Read {"file_path":"/repo/store.go"}`, Data: []byte(source(200))},
		{Name: "assistant", Data: []byte("I have seen it.")},
		{Name: "user", Data: []byte("go on")},
	})
}

func TestOutlineQuotesLinesOfTheOriginal(t *testing.T) {
	c := reading()
	ds := Stub(Of(context.Background(), c, Options{Counter: quarters{}, Quote: Quoting{Share: 0.2, Most: 1000}}))
	if len(ds) != 1 || ds[0].Kind != decant.Shrink || ds[0].Reduction != decant.ReductionOutline {
		t.Fatalf("got %s, want one outline", print(ds))
	}
	d := ds[0]
	if most := 1000 + 100 + 60; d.After > most || d.After < 500 {
		t.Errorf("the outline has %d tokens, want about 1,000 and at most %d", d.After, most)
	}
	lines := strings.Split(d.Text, "\n")
	if want := "[Old result of Read /repo/store.go (400 lines); from it:"; lines[0] != want {
		t.Errorf("the outline begins %q, want %q", lines[0], want)
	}
	for _, l := range lines[1 : len(lines)-1] {
		if !strings.Contains(source(200), "→"+l) {
			t.Errorf("%q is no line of the original", l)
		}
	}
}

func TestOutlineIsMadeOnce(t *testing.T) {
	c := reading()
	o := Options{Counter: quarters{}, Quote: Quoting{Share: 0.2}}
	ds := Stub(Of(context.Background(), c, o))
	ds[0].ID = "d1"
	view, err := decant.View(c, ds)
	if err != nil {
		t.Fatal(err)
	}
	o.Transcript, o.Made = c, ds
	if again := Stub(Of(context.Background(), view, o)); len(again) != 0 {
		t.Errorf("an outline was outlined again:\n%s", print(again))
	}
	o.Quote = Quoting{}
	if line := Stub(Of(context.Background(), view, o)); len(line) != 1 || line[0].After >= ds[0].After {
		t.Errorf("an outline could not become a line:\n%s", print(line))
	}
}

func TestOutlineMasksSecrets(t *testing.T) {
	c := reading()
	o := Options{
		Counter: quarters{}, Quote: Quoting{Share: 0.2},
		Mask: func(s string) string { return strings.ReplaceAll(s, "loadCheckpoint7", "[masked]") },
	}
	if ds := Stub(Of(context.Background(), c, o)); strings.Contains(ds[0].Text, "loadCheckpoint7") {
		t.Errorf("a masked text is quoted:\n%s", print(ds))
	}
}

func TestQuotingLeft(t *testing.T) {
	q := Quoting{Share: 0.2, Most: 500}
	for _, tt := range []struct{ tokens, want int }{{100, 70}, {1000, 330}, {100_000, 630}} {
		if got := q.Left(tt.tokens); got != tt.want {
			t.Errorf("of %d tokens %d are left, want %d", tt.tokens, got, tt.want)
		}
	}
}

// A stub took names out of view that a record of the same size would have kept.
func TestReplacementsNameWhatMustStay(t *testing.T) {
	c := reading()
	must := map[string]bool{}
	for i := 100; i < 160; i++ {
		must[fmt.Sprintf("loadCheckpoint%d", i)] = true
	}
	for name, quote := range map[string]Quoting{"Stub": {}, "Outline": {Share: 0.1, Most: 300, Names: 20}} {
		t.Run(name, func(t *testing.T) {
			without := Stub(Of(context.Background(), c, Options{Counter: quarters{}, Quote: quote}))
			with := Stub(Of(context.Background(), c, Options{Counter: quarters{}, Quote: quote, Must: must}))
			for n := range must {
				if !strings.Contains(with[0].Text, n) {
					t.Errorf("%s is out of view", n)
				}
			}
			if more, most := with[0].After-without[0].After, with[0].Before/8; more <= 0 || more > most {
				t.Errorf("%d tokens more, want at most an eighth of %d", more, with[0].Before)
			}
		})
	}
}
