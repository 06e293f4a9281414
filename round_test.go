package decant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// script builds messages from a compact notation, one word a message: "u" the user speaks, "c" client text,
// "a" the assistant speaks, "a:1,2" it calls 1 and 2, "t:1" the tool answers call 1, "u:1" the user message
// holds the result of call 1, "a:+9" the assistant calls 9 of the server's tools, "a:-9" it has the result.
func script(words string) []decant.Message {
	var ms []decant.Message
	for i, w := range strings.Fields(words) {
		who, ids, calls := strings.Cut(w, ":")
		m := decant.Message{Number: i + 1}
		add := func(b decant.Block) {
			b.Ref = decant.Ref{Message: i + 1, Block: len(m.Blocks)}
			m.Blocks = append(m.Blocks, b)
		}
		switch who {
		case "u":
			m.Role = decant.RoleUser
			if !calls {
				add(decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("say " + w)})
			}
		case "c":
			m.Role = decant.RoleUser
			add(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: decant.Text("note")})
		case "t":
			m.Role = decant.RoleTool
		case "a":
			m.Role = decant.RoleAssistant
			add(decant.Block{Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text("do")})
		}
		for _, id := range strings.Split(ids, ",") {
			if id == "" {
				continue
			}
			switch server := strings.TrimLeft(id, "+-"); {
			case server != id:
				add(decant.Block{Kind: decant.KindOpaque, CallID: server, Content: decant.Source("{}")})
			case who == "a":
				add(decant.Block{Kind: decant.KindUse, CallID: id, Name: "t", Content: decant.Text("{}")})
			default:
				add(decant.Block{Kind: decant.KindResult, CallID: id, Content: decant.Text(fmt.Sprintf("result of %s in m%d", id, i+1))})
			}
		}
		ms = append(ms, m)
	}
	return ms
}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []decant.Round
	}{
		{"Empty", "", nil},
		{"TextOnly", "u a u a", []decant.Round{{1, 2, false}, {3, 4, true}}},
		{"ResultInUserMessage", "u a:1 u:1 a", []decant.Round{{1, 3, false}, {3, 4, true}}},
		{"ParallelCallsOneMessageEach", "u a:1,2 t:2 t:1 a", []decant.Round{{1, 4, false}, {4, 5, true}}},
		{"UserTextBetweenCallAndResult", "u a:1 c t:1 u", []decant.Round{{1, 4, false}}},
		{"Interleaved", "u a:1 a:2 t:1 t:2 u", []decant.Round{{1, 5, false}}},
		{"CallWithoutResult", "u a:1 u a", []decant.Round{{1, 2, false}, {3, 4, true}}},
		{"IDUsedTwice", "u a:1 t:1 u a:1 t:1", []decant.Round{{1, 3, false}, {4, 6, true}}},
		{"OrphanResult", "u t:9 a", []decant.Round{{2, 3, true}}},
		{"OpenRound", "u a:1 t:1", []decant.Round{{1, 3, true}}},
		{"ServedAtOnce", "u a:+9,-9 u a", []decant.Round{{1, 2, false}, {3, 4, true}}},
		{"ServedBehindTheClientsResults", "u a:+9,1 u:1 a:-9 u a", []decant.Round{{1, 4, false}, {5, 6, true}}},
		{"ServedWithTheNextCalls", "u a:+9,1 u:1 a:-9,2 u:2 u a", []decant.Round{{1, 5, false}, {6, 7, true}}},
		{"ServedSomeRoundsLater", "u a:+9,1 u:1 a:2 u:2 a:-9 u a", []decant.Round{{1, 6, false}, {7, 8, true}}},
		{"ServedOneBehindTheOther", "u a:+8,+9,1 u:1 a:-8,2 u:2 a:-9 u", []decant.Round{{1, 6, false}}},
		{"WaitingForTheServer", "u a:3 u:3 a:+9,1 u:1", []decant.Round{{1, 3, false}, {3, 5, true}}},
		{"WaitingForTheServerSomeRounds", "u a:+9,1 u:1 a:2 u:2", []decant.Round{{1, 5, true}}},
		{"TheServerWasInterrupted", "u a:+9,1 u:1 u a:2 u:2", []decant.Round{{1, 3, false}, {4, 6, true}}},
		{"CalledInTwoMessages", "u a:+9 a:1 u:1 a:-9 u", []decant.Round{{1, 5, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, decant.Rounds(script(c.script))); diff != "" {
				t.Errorf("Rounds(%s) (-want +got):\n%s", c.script, diff)
			}
		})
	}
}

func TestAwaitsServer(t *testing.T) {
	for words, want := range map[string]bool{
		"": false, "u a:1 u:1": false, "u a:+9,-9": false, "u a:+9": true, "u a:+9,1 u:1": true, "u a:+9,1 u:1 a:2 u:2": true,
		"u a:+8,+9,1 u:1 a:-9,2 u:2": true, "u a:+9,1 u:1 a:-9,2 u:2": false, "u a:+9,1 u:1 u": false, "u a:+9,1 u:1 c a:2 u:2": false,
	} {
		if got := decant.AwaitsServer(script(words)); got != want {
			t.Errorf("AwaitsServer(%q) = %v", words, got)
		}
	}
}

func TestCuts(t *testing.T) {
	got := decant.Cuts(script("u a:1 c t:1 u a"))
	if want := []int{0, 1, 4, 5, 6}; !cmp.Equal(got, want) {
		t.Errorf("Cuts = %v, want %v", got, want)
	}
}

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		script string
		want   []decant.Turn
	}{
		{"", nil},
		{"c a u a", []decant.Turn{{0, 4}}},
		{"u a u a:1 u:1 c a", []decant.Turn{{0, 2}, {2, 7}}},
	} {
		if diff := cmp.Diff(c.want, decant.Turns(script(c.script))); diff != "" {
			t.Errorf("Turns(%s) (-want +got):\n%s", c.script, diff)
		}
	}
}

// conversations draws any sequence of messages, legal or not.
func conversations() *rapid.Generator[[]decant.Message] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"u", "c", "a"}),
		rapid.StringMatching(`a:[1-4](,[1-4])?`),
		rapid.StringMatching(`[tu]:[1-4](,[1-4])?`),
	)
	return rapid.Custom(func(t *rapid.T) []decant.Message {
		return script(strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "script"), " "))
	})
}

// No cut separates a call from its result, and the ends are always safe.
func TestNoCutSplitsARound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := conversations().Draw(t, "messages")
		rounds, cuts := decant.Rounds(ms), decant.Cuts(ms)
		if cuts[0] != 0 && !(len(rounds) > 0 && rounds[0].Start == 0) || cuts[len(cuts)-1] != len(ms) {
			t.Fatalf("cuts %v of %d messages do not reach from end to end", cuts, len(ms))
		}
		for _, c := range cuts {
			if before, after := crossing(ms, c); before {
				t.Fatalf("cut %d separates a call from its result in m%d", c, after+1)
			}
		}
	})
}

// crossing reports whether a result at or after the cut answers a call before it.
func crossing(ms []decant.Message, cut int) (bool, int) {
	open := map[string][]int{}
	for i := range ms {
		for _, b := range ms[i].Blocks {
			if b.Kind == decant.KindUse {
				open[b.CallID] = append(open[b.CallID], i)
			}
			if calls := open[b.CallID]; b.Kind == decant.KindResult && len(calls) > 0 {
				from := calls[len(calls)-1]
				open[b.CallID] = calls[:len(calls)-1]
				if from < cut && i >= cut {
					return true, i
				}
			}
		}
	}
	return false, 0
}
