package receipt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
)

// said is a conversation with one text in each message: of the user, of the assistant, and so on; "read: " begins what a tool returned.
func said(texts ...string) *decant.Conversation {
	c := &decant.Conversation{Fixed: decant.Fixed{System: []decant.Block{{Kind: decant.KindText, Content: decant.Text("The office of the harbour closes at 17:30.")}}}}
	for i, s := range texts {
		b := decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(s), Ref: decant.Ref{Message: i + 1}}
		m := decant.Message{Number: i + 1, Role: decant.RoleUser}
		if i%2 == 1 {
			m.Role, b.Author = decant.RoleAssistant, decant.AuthorModel
		}
		if out, ok := strings.CutPrefix(s, "read: "); ok {
			b.Kind, b.Content, b.Name, b.CallID = decant.KindResult, decant.Text(out), "read", fmt.Sprint("toolu_", i)
		}
		m.Blocks = []decant.Block{b}
		c.Messages = append(c.Messages, m)
	}
	return c
}

// moment returns the moment of an answer to a conversation under decisions.
func moment(t testing.TB, c *decant.Conversation, answer string, before []decant.Decision, ds ...decant.Decision) *agent.Moment {
	t.Helper()
	view, err := decant.View(c, ds)
	if err != nil {
		t.Fatal(err)
	}
	return &agent.Moment{Answer: len(c.Messages), Text: answer, Transcript: c, View: view, Decisions: ds, Before: before}
}

// target returns the target of a decision on a message.
func target(c *decant.Conversation, message int) decant.Target {
	return decant.TargetOf(&c.Messages[message-1].Blocks[0])
}

// harbour is a conversation of which much was poured away.
func harbour(t testing.TB, answer string) *agent.Moment {
	c := said(
		"The crane of Maria Lopez stands at pier 12. Its plate is KX-4417.",
		"Noted.",
		"read: # tides\nhigh water 06:42\nlow water 12:58\nThe lighthouse keeper drinks 9 cups of coffee",
		"High water is at 06:42.",
		"read: tide table of the outer mole, 4711 entries\nsee /srv/tides/outer.csv\nharbour master signed it",
		"I see.",
		"read: \x1b[31mred\x1b[0m buoy 88 drifts north",
		"Understood.",
		"版本是 3.2.1。",
		"好。",
		"What is what?",
	)
	first := decant.Decision{ID: "a.1", Pour: "a", Kind: decant.Cover, Handle: "c:1", Checkpoint: &decant.Checkpoint{Number: 1, From: 1, To: 2, Summary: "old"}}
	return moment(t, c, answer, []decant.Decision{first},
		decant.Decision{ID: "b.1", Pour: "b", Kind: decant.Cover, Handle: "c:2", Checkpoint: &decant.Checkpoint{Number: 2, From: 1, To: 4, Folds: 1, Summary: "[Record]\n- m3: high water 06:42\n- The crane stands at pier 12"}},
		decant.Decision{ID: "b.2", Pour: "b", Kind: decant.Stub, Reduction: decant.ReductionStub, Handle: "d:1234", Target: target(c, 5), Text: "[result of read left out: 3 lines, 4711 entries; d:1234]"},
		decant.Decision{ID: "c.1", Kind: decant.Shrink, Reduction: decant.ReductionTerminal, Handle: "d:5678", Target: target(c, 7), Text: "red buoy 88 drifts north"},
		decant.Decision{ID: "c.2", Kind: decant.Insert, Reduction: decant.ReductionRecall, Target: target(c, 11), Text: "Remembered: the ferry leaves from quay 5b."},
	)
}

func TestWhatASentenceRestsOn(t *testing.T) {
	for answer, want := range map[string][]string{
		"High water is at 06:42.":                        {"sent: the record c:2, which has it from m3, result of read"},
		"There are 4711 entries.":                        {"sent: m5, result of read, as a stub d:1234"},
		"The red buoy 88 drifts north.":                  {"sent: m7, result of read, shortened d:5678"},
		"The office closes at 17:30.":                    {"sent: the instructions"},
		"The ferry leaves from quay 5b.":                 {"sent: a text that Decant had put in"},
		"版本是3.2.1。没有别的船。":                                {"sent: m9, the user, verbatim", "NOT SENT: nothing that was sent says this"},
		"Its plate is KX-4417.":                          {"NOT SENT: nothing that was sent says this; it was there: m1, the user, but poured away in pour 1"},
		"The plate of the crane is KX-9999.":             {"NOT SENT: nothing that was sent says this; it was there: m1, the user, but poured away in pour 1"},
		"The lighthouse keeper drinks much coffee.":      {"NOT SENT: nothing that was sent says this; it was there: m3, result of read, but poured away in pour 2"},
		"The file is /srv/tides/outer.csv.":              {"NOT SENT: nothing that was sent says this; it was there: m5, result of read, but poured away in pour 2"},
		"Whales sing loudly beneath Antarctic glaciers.": {"NOT SENT: nothing that was sent says this"},
		"It is so.":                          {"says nothing that could be looked up"},
		"```\ncat /srv/tides/outer.csv\n```": {"NOT SENT: nothing that was sent says this; it was there: m5, result of read, but poured away in pour 2"},
	} {
		r := Of(harbour(t, answer))
		var got []string
		for i := range r.Sentences {
			got = append(got, r.Sentences[i].Summary())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s\n%+v", answer, d, r.Sentences)
		}
	}
}

// Whatever is answered, places lie within the blocks that they name and hold what is quoted, and a receipt is the same twice.
func TestPlacesHoldWhatIsQuoted(t *testing.T) {
	words := []string{"crane", "pier 12", "KX-4417", "06:42", "tide", "4711", "/srv/tides/outer.csv", "buoy 88", "版本是", "3.2.1", "coffee", ". ", "\n- ", "`", "“", "”", "\xff", "```\n", "99"}
	rapid.Check(t, func(rt *rapid.T) {
		m := harbour(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 30).Draw(rt, "answer"), " "))
		r := Of(m)
		if d := cmp.Diff(r, Of(m)); d != "" {
			rt.Fatalf("twice: %s", d)
		}
		for _, s := range r.Sentences {
			if s.Text != strings.ToValidUTF8(m.Text, "\uFFFD")[s.Start:s.End] || (s.Verdict == "sent") != (len(s.Missing) == 0 && len(s.Sources) > 0 && s.Verdict == "sent") {
				rt.Fatalf("%+v", s)
			}
			for _, src := range append(s.Sources, s.Unsent...) {
				holds(rt, m, &src)
			}
		}
	})
}

// holds holds a source against the block that it names.
func holds(t *rapid.T, m *agent.Moment, s *Source) {
	if s.Place == nil {
		return
	}
	b := m.Transcript.Block(decant.Ref{Message: s.Place.Message, Block: s.Place.Block})
	if b == nil || s.Place.Start < 0 || s.Place.End > len(b.Text()) || s.Place.Start >= s.Place.End {
		t.Fatalf("%+v names no part of a block", s.Place)
	}
	if got := strings.TrimSpace(b.Text()[s.Place.Start:s.Place.End]); (s.Form == "verbatim" || s.Form == "left") && got != s.Quote {
		t.Fatalf("%+v quotes %q, there stands %q", s.Place, s.Quote, got)
	}
}
