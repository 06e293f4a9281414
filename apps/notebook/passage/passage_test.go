package passage_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook/passage"
)

// find returns the text that is found first, -1 for none.
func find(t *testing.T, query string, texts ...string) int {
	t.Helper()
	x := passage.New()
	for _, text := range texts {
		x.Add("", text)
	}
	hits := x.Find(query, 1, nil)
	if len(hits) == 0 {
		return -1
	}
	return hits[0].Text
}

func TestNamesAreFoundByTheirParts(t *testing.T) {
	texts := []string{
		"the weather is fine today", "func parseCheckpointID(s string) error", "MAX_RETRY_COUNT = 7",
		"open src/net/http_server.go:12", "type HTTPServer struct{}", "データベースの接続に失敗しました", "연결 시간 초과",
		"the deadlines were missed twice",
	}
	for query, want := range map[string]int{
		"checkpoint id": 1, "id checkpoint": 1, "parseCheckpointID": 1, "parse_checkpoint_id": 1,
		"retry count": 2, "max-retry": 2, "http_server.go": 3,
		"src/net": 3, "HTTPServer": 4, "server struct": 4, "接続": 5, "データベース 失敗": 5, "시간": 6,
		"missing deadline": 7, "quantum": -1, "": -1, "…": -1,
	} {
		if got := find(t, query, texts...); got != want {
			t.Errorf("%q finds text %d, want %d", query, got, want)
		}
	}
}

// Of two texts with the same words that one is found first in which they are one name.
func TestANameCountsMoreThanItsPartsApart(t *testing.T) {
	if got := find(t, "session state", "the state of it, and the session of them", "see session_state.go"); got != 1 {
		t.Errorf("found text %d", got)
	}
}

// The parts of a name that a question says side by side count more than rarer words that it has besides.
func TestAQuestionTellsANameByItsParts(t *testing.T) {
	texts := []string{"const ackFailures = 1", "the linter and the reviewer wait for a checkpoint"}
	for range 20 {
		texts = append(texts, "ack of the message and what then", "the failures of a disk")
	}
	if got := find(t, "failures ack and then I would look at what the linter and the reviewer say", texts...); got != 0 {
		t.Errorf("found text %d", got)
	}
}

// The passage that is found has the words, and is a part of the text.
func TestPassagesOfLongTexts(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "line %d of the log says nothing\n", i)
		if i == 1234 {
			b.WriteString("panic: orchid not watered\n")
		}
	}
	x := passage.New()
	x.Add("", b.String())
	x.Add("", strings.Repeat("x", 100_000)+" tulip "+strings.Repeat("ü", 50_000))
	for query, want := range map[string]string{"orchid": "panic: orchid not watered", "tulip": " tulip "} {
		hits := x.Find(query, 10, nil)
		if len(hits) != 1 {
			t.Fatalf("%q: %v", query, hits)
		}
		text := b.String()
		if hits[0].Text == 1 {
			text = strings.Repeat("x", 100_000) + " tulip " + strings.Repeat("ü", 50_000)
		}
		if got := text[hits[0].From:hits[0].To]; !strings.Contains(got, want) || len(got) > 5000 {
			t.Errorf("%q: %d bytes", query, len(got))
		}
	}
}

func TestResultsAreFoundByTheirCalls(t *testing.T) {
	x, calls := passage.New(), passage.Calls{}
	add := func(kind decant.Kind, tool, call, text string) { x.Add(calls.Head(kind, tool, call, text), text) }
	add(decant.KindUse, "Read", "1", `{"file_path":"/src/orchid.go"}`)
	add(decant.KindResult, "Read", "1", "package flowers\n\nconst Petals = 5")
	add(decant.KindResult, "Read", "2", "package flowers\n\nconst Petals = 6")
	hits := x.Find("orchid.go petals", 3, nil)
	if len(hits) != 3 || hits[1].Text != 1 { // the call first, then its result
		t.Errorf("found %v", hits)
	}
	if hits := x.Find("petals", 3, func(text int) bool { return text == 2 }); len(hits) != 1 || hits[0].Text != 2 {
		t.Errorf("of text 2 only: %v", hits)
	}
}

// Passages lie within their texts and between characters, whatever the texts and queries are.
func TestAnyTextCanBeFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := passage.New()
		texts := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "texts")
		for _, text := range texts {
			x.Add(rapid.String().Draw(t, "head"), text)
		}
		for range 2 { // the second finds the same
			hits := x.Find(texts[0], 3, nil)
			for _, h := range hits {
				if h.From < 0 || h.To > len(texts[h.Text]) || h.From >= h.To {
					t.Fatalf("%+v of %q", h, texts[h.Text])
				}
			}
			again := x.Find(texts[0], 3, nil)
			if fmt.Sprint(hits) != fmt.Sprint(again) {
				t.Fatalf("found %v, then %v", hits, again)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	x := passage.New()
	for i := range 3000 {
		x.Add("Read", strings.Repeat(fmt.Sprintf("func (p *planner) cover%d() error { return p.checkpoint(%d) }\n", i, i), 20))
	}
	for b.Loop() {
		x.Find("planner cover 1234 checkpoint error that was returned", 10, nil)
	}
}
