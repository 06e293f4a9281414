package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/recorded"
)

// halves divides a recorded session where the user says something next, each half numbered from the first message on, as
// two files would be.
func halves(tb testing.TB, name string) []Recording {
	tb.Helper()
	c := recorded.Session(tb, name).Conversation
	turns := decant.Turns(c.Messages)
	at := turns[len(turns)/2].Start
	if at == 0 {
		tb.Fatalf("%s has one turn", name)
	}
	second := append([]decant.Message(nil), c.Messages[at:]...)
	for i := range second {
		m := &second[i]
		m.Number -= at
		m.Blocks = append([]decant.Block(nil), m.Blocks...)
		for k := range m.Blocks {
			m.Blocks[k].Ref.Message -= at
		}
	}
	return []Recording{
		{Name: "a.jsonl", Format: "claude-code", Conversation: c.With(c.Messages[:at])},
		{Name: "b.jsonl", Format: "claude-code", Conversation: c.With(second)},
	}
}

func playJoined(tb testing.TB, rs []Recording, o Options) *Session {
	tb.Helper()
	s, err := PlayJoined("joined", rs, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// What was recorded as one conversation is the same conversation when its two halves
// are joined, whatever the order in which they are named.
func TestJoinedHalvesAreTheWhole(t *testing.T) {
	o := options(t, "none", "default", "drop-oldest")
	o.Fixed, o.Window = 20_000, 60_000
	rs := halves(t, recorded.Claude)
	whole := play(t, recorded.Claude, o)
	got := playJoined(t, []Recording{rs[1], rs[0]}, o)
	if diff := cmp.Diff([]string{"a.jsonl", "b.jsonl"}, got.Joined.Recordings); diff != "" {
		t.Error(diff)
	}
	for i := range got.Results {
		g, w := &got.Results[i], &whole.Results[i]
		if g.Requests < w.Requests-1 || g.Requests > w.Requests {
			t.Errorf("%s: %d requests, as one file %d", w.Policy, g.Requests, w.Requests)
		}
		if g.Illegal > 0 {
			t.Errorf("%s broke %d rules", w.Policy, g.Illegal)
		}
	}
	none, all := &got.Results[0], &whole.Results[0]
	if none.Recall() != 1 || none.GroundedRecall() != 1 || none.Gold < all.Gold*9/10 || none.Peak < all.Peak*9/10 {
		t.Errorf("sent whole: recall %.3f of %d strings, peak %d; as one file %d strings, peak %d", none.Recall(), none.Gold, none.Peak, all.Gold, all.Peak)
	}
	if def := &got.Results[1]; def.Pours() == 0 || def.Modelled >= none.Modelled {
		t.Errorf("default poured %d times for $%.2f, sent whole $%.2f", def.Pours(), def.Modelled, none.Modelled)
	}
	if got.Joined.ApartUSD <= 0 || got.Joined.ApartUSD >= none.Modelled {
		t.Errorf("apart they cost $%.2f, joined $%.2f: the second carries the first", got.Joined.ApartUSD, none.Modelled)
	}
}

// The pause between two recordings counts as it was, and there is none where they overlap.
func TestPausesBetweenRecordingsCount(t *testing.T) {
	o := options(t, "none")
	rs := halves(t, recorded.Claude)
	begin := func(later time.Duration) time.Time {
		moved := append([]decant.Message(nil), rs[1].Conversation.Messages...)
		for i := range moved {
			moved[i].Time = moved[i].Time.Add(later)
		}
		s := playJoined(t, []Recording{rs[0], {Name: "b.jsonl", Format: "claude-code", Conversation: rs[1].Conversation.With(moved)}}, o)
		alone, err := Play("a", rs[0].Conversation, o)
		if err != nil {
			t.Fatal(err)
		}
		return s.Results[0].Series[alone.Results[0].Requests].At
	}
	at := begin(0)
	if got := begin(48 * time.Hour); got.Sub(at) != 48*time.Hour {
		t.Errorf("two days later it begins %v later", got.Sub(at))
	}
	last := rs[0].Conversation.Messages[len(rs[0].Conversation.Messages)-1].Time
	span := rs[1].Conversation.Messages[0].Time.Sub(rs[0].Conversation.Messages[0].Time)
	if got := begin(-span + time.Second); got.Before(last) {
		t.Errorf("it began within the one before, and its first request is at %v, before %v", got, last)
	}
}

func TestWhatCannotBeJoined(t *testing.T) {
	o := options(t, "none")
	rs := halves(t, recorded.Claude)
	codex := Recording{Name: "c.jsonl", Format: "codex", Conversation: recorded.Session(t, recorded.Codex).Conversation}
	client := options(t, "client")
	tests := []struct {
		name string
		rs   []Recording
		o    Options
		want string
	}{
		{"two formats", []Recording{rs[0], codex}, o, "c.jsonl"},
		{"one twice", []Recording{rs[0], {Name: "again.jsonl", Format: "claude-code", Conversation: rs[0].Conversation}}, o, "again.jsonl repeats"},
		{"nothing that was answered", []Recording{{Name: "empty.jsonl", Format: "claude-code", Conversation: rs[1].Conversation.With(rs[1].Conversation.Messages[:1])}}, o, "no answered request"},
		{"what was sent", rs, client, `"client"`},
		{"nothing", nil, o, "nothing to join"},
	}
	for _, tt := range tests {
		if _, err := PlayJoined("joined", tt.rs, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestRecordingsWithoutAnswersAreLeftOut(t *testing.T) {
	rs := halves(t, recorded.Claude)
	empty := Recording{Name: "empty.jsonl", Format: "claude-code", Conversation: rs[1].Conversation.With(rs[1].Conversation.Messages[:1])}
	o := options(t, "none")
	with, without := playJoined(t, []Recording{rs[0], empty, rs[1]}, o), playJoined(t, rs, o)
	if diff := cmp.Diff([]string{"empty.jsonl"}, with.Joined.LeftOut); diff != "" {
		t.Error(diff)
	}
	if a, b := with.Results[0].Modelled, without.Results[0].Modelled; a != b {
		t.Errorf("with it $%.4f, without $%.4f", a, b)
	}
}

// A recording without times comes where it was named, and plays at a steady pace behind the one before it.
func TestRecordingsWithoutTimesAreJoinedAsNamed(t *testing.T) {
	rs := halves(t, recorded.Claude)
	for i := range rs {
		ms := append([]decant.Message(nil), rs[i].Conversation.Messages...)
		for k := range ms {
			ms[k].Time = time.Time{}
		}
		rs[i].Conversation = rs[i].Conversation.With(ms)
	}
	s := playJoined(t, rs, options(t, "none"))
	for i, p := range s.Results[0].Series[1:] {
		if !p.At.After(s.Results[0].Series[i].At) {
			t.Fatalf("request %d is at %v, not behind the one before it", i+2, p.At)
		}
	}
}
