package cause_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func prompt(read, write, input int) cause.Prompt {
	return cause.Prompt{At: day, Model: "a", Life: 300, Marked: 10, Usage: decant.Usage{CacheRead: read, CacheWrite: write, Input: input}}
}

// Each case is one request behind one that left 10,000 tokens in the cache a minute ago.
func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		name        string
		read, write int
		change      func(s *cause.Step)
		want        []cause.Part
	}{
		{"NewText", 10_000, 500, nil, []cause.Part{{Kind: cause.New, Tokens: 500}}},
		{"Nothing", 10_000, 0, nil, nil},
		{"FramingIsNoMiss", 9_995, 500, nil, []cause.Part{{Kind: cause.New, Tokens: 500}}},
		{"Model", 0, 10_500, func(s *cause.Step) { s.Now.Model = "b" }, []cause.Part{{Kind: cause.Model, Detail: "a to b", Tokens: 10_000}, {Kind: cause.New, Tokens: 500}}},
		{"Tools", 0, 10_500, func(s *cause.Step) { s.Now.Fixed[0], s.Now.Tools[0] = 1, 1 }, []cause.Part{{Kind: cause.Tools, Tokens: 10_000}, {Kind: cause.New, Tokens: 500}}},
		{"System", 2_000, 8_500, func(s *cause.Step) { s.Now.Fixed[0] = 1 }, []cause.Part{{Kind: cause.System, Tokens: 8_000}, {Kind: cause.New, Tokens: 500}}},
		{"Idle", 0, 10_500, func(s *cause.Step) { s.Now.At = day.Add(370 * time.Second) }, []cause.Part{{Kind: cause.Expired, Detail: "idle for 6m, kept for 5m", Tokens: 10_000}, {Kind: cause.New, Tokens: 500}}},
		{"IdleForHours", 0, 10_000, func(s *cause.Step) { s.Now.At = day.Add(130 * time.Minute) }, []cause.Part{{Kind: cause.Expired, Detail: "idle for 2h10m, kept for 5m", Tokens: 10_000}}},
		{"Edit", 4_000, 6_500, func(s *cause.Step) { s.Edit = "m7" }, []cause.Part{{Kind: cause.Edited, Detail: "at m7", Tokens: 6_000}, {Kind: cause.New, Tokens: 500}}},
		{"Pour", 4_000, 3_000, func(s *cause.Step) { s.Pour = true }, []cause.Part{{Kind: cause.Poured, Tokens: 3_000}}},
		{"LookBack", 2_000, 9_000, func(s *cause.Step) { s.Behind = 21 }, []cause.Part{{Kind: cause.LookBack, Detail: "21 blocks", Tokens: 8_000}, {Kind: cause.New, Tokens: 1_000}}},
		{"TwentyBlocksAreWithinReach", 2_000, 9_000, func(s *cause.Step) { s.Behind = 20 }, []cause.Part{{Kind: cause.Unexplained, Detail: "idle for 1m", Tokens: 8_000}, {Kind: cause.New, Tokens: 1_000}}},
		{"NothingKnown", 0, 10_500, nil, []cause.Part{{Kind: cause.Unexplained, Detail: "idle for 1m", Tokens: 10_000}, {Kind: cause.New, Tokens: 500}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := prompt(9_000, 1_000, 0)
			s := &cause.Step{Now: prompt(tt.read, tt.write, 0)}
			s.Now.At = day.Add(time.Minute)
			if tt.change != nil {
				tt.change(s)
			}
			if diff := cmp.Diff(tt.want, cause.Explain(&before, s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What was paid in full, because no marker stood behind it, and is written once one does, is not new.
func TestTextWithoutAMarkerIsNamedWhenItIsWritten(t *testing.T) {
	before := prompt(2_000, 0, 5_000)
	got := cause.Explain(&before, &cause.Step{Now: prompt(2_000, 6_000, 0)})
	want := []cause.Part{{Kind: cause.Unmarked, Detail: "sent before behind the last marker", Tokens: 5_000}, {Kind: cause.New, Tokens: 1_000}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The parts are all that was written, whatever is reported.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 20_000)
		usage := func(name string) decant.Usage {
			u := decant.Usage{Input: n.Draw(rt, name+" input"), CacheRead: n.Draw(rt, name+" read"), CacheWrite: n.Draw(rt, name+" write")}
			u.Write1h = rapid.IntRange(0, u.CacheWrite).Draw(rt, name+" hour")
			return u
		}
		before := cause.Prompt{At: day, Life: 300, Usage: usage("before")}
		s := &cause.Step{Now: cause.Prompt{At: day.Add(time.Duration(n.Draw(rt, "seconds")) * time.Second), Life: 300, Usage: usage("now")}}
		s.Pour, s.Behind = rapid.Bool().Draw(rt, "pour"), rapid.IntRange(0, 40).Draw(rt, "blocks")
		first := &before
		if rapid.Bool().Draw(rt, "first") {
			first = nil
		}
		tokens, hour := 0, 0
		for _, p := range cause.Explain(first, s) {
			if p.Tokens <= 0 || p.Hour < 0 || p.Hour > p.Tokens {
				rt.Fatalf("a part of %+v", p)
			}
			tokens, hour = tokens+p.Tokens, hour+p.Hour
		}
		if u := s.Now.Usage; tokens != u.CacheWrite || hour != u.Write1h {
			rt.Fatalf("%d tokens, %d for an hour, of %+v", tokens, hour, u)
		}
	})
}

// said returns a message at a second of the session.
func said(n, second int, u *decant.Usage) decant.Message {
	m := decant.Message{Number: n, Role: decant.RoleUser, Time: day.Add(time.Duration(second) * time.Second), Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text("words")}}}
	if u != nil {
		m.Role, m.Usage, m.Model = decant.RoleAssistant, u, "a"
	}
	return m
}

// Recorded sessions say what they were billed for, and when: that is enough to name most causes.
func TestRecordedSessionsNameTheirCauses(t *testing.T) {
	summary := said(9, 1200, nil)
	summary.Compaction = true
	c := &decant.Conversation{Messages: []decant.Message{
		said(1, 0, nil), said(2, 5, &decant.Usage{CacheRead: 2_000, CacheWrite: 8_000}),
		said(3, 60, nil), said(4, 65, &decant.Usage{CacheRead: 10_000, CacheWrite: 1_000}),
		said(5, 500, nil), said(6, 505, &decant.Usage{CacheRead: 0, CacheWrite: 12_000}),
		said(7, 510, nil), said(8, 515, &decant.Usage{CacheRead: 2_000, CacheWrite: 10_500}),
		summary, said(10, 1205, &decant.Usage{CacheRead: 2_000, CacheWrite: 3_000}),
		said(11, 1210, nil), said(12, 1215, &decant.Usage{CacheRead: 5_000, CacheWrite: 1_000}),
		said(13, 1220, nil), said(14, 1225, &decant.Usage{CacheRead: 6_000, CacheWrite: 4_000}),
		said(15, 1230, nil), said(16, 1235, &decant.Usage{CacheRead: 0, CacheWrite: 10_100}),
	}}
	got := map[string][]cause.Part{}
	for _, r := range cause.Recorded(c) {
		got[r.Message.Name()] = r.Parts
	}
	want := map[string][]cause.Part{
		"m2":  {{Kind: cause.New, Detail: "first request", Tokens: 8_000}},
		"m4":  {{Kind: cause.New, Tokens: 1_000}},
		"m6":  {{Kind: cause.Expired, Detail: "idle for 7m, kept for 5m", Tokens: 11_000}, {Kind: cause.New, Tokens: 1_000}},
		"m8":  {{Kind: cause.Beginning, Detail: "behind token 2000", Tokens: 10_000}, {Kind: cause.New, Tokens: 500}},
		"m10": {{Kind: cause.Compacted, Detail: "at m9", Tokens: 3_000}},
		"m12": {{Kind: cause.New, Tokens: 1_000}},
		"m14": {{Kind: cause.New, Tokens: 4_000}},
		"m16": {{Kind: cause.Unexplained, Detail: "idle for 10s", Tokens: 10_000}, {Kind: cause.New, Tokens: 100}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A table holds dollars as the price list has them: writing at 1.25 of input, reading at a tenth.
func TestTableSaysWhatCausesCost(t *testing.T) {
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := catalog.Lookup("claude-opus-4-6")
	var table cause.Table
	table.Add([]cause.Part{{Kind: cause.Expired, Tokens: 1_000_000}, {Kind: cause.New, Tokens: 1_000_000}}, m, cost.Terms{At: day})
	table.Join(cause.Table{{Kind: cause.Unexplained, Tokens: 2_000_000, Requests: 1}})
	if written, explained := table.Tokens(); written != 4_000_000 || explained != 2_000_000 {
		t.Errorf("%d of %d tokens have a cause", explained, written)
	}
	want := cause.Table{
		{Kind: cause.New, Requests: 1, Tokens: 1_000_000, USD: 6.25},
		{Kind: cause.Expired, Requests: 1, Tokens: 1_000_000, USD: 6.25, Extra: 5.75},
		{Kind: cause.Unexplained, Requests: 1, Tokens: 2_000_000},
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
