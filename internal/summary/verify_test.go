package summary_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

func facts(kind decant.FactKind, n int, weight float64) []decant.Fact {
	var out []decant.Fact
	for i := range n {
		out = append(out, decant.Fact{Kind: kind, Text: fmt.Sprintf("%s_number%d", kind, i), Weight: weight})
	}
	return out
}

// repaired returns what is accepted of a text that lacks facts.
func repaired(t *testing.T, text string, missing []decant.Fact, l summary.Limits) string {
	t.Helper()
	s, err := summary.Accept(t.Context(), text, missing, l)
	if err != nil {
		t.Fatal(err)
	}
	return s.Text
}

// Bare names say little, so a repair adds few of them, and what was said before any of them.
func TestRepairAddsSayingsAndFewNames(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("some words of a summary ", 60))
	missing := append(facts(decant.FactPath, 500, .9), decant.Fact{
		Kind: decant.FactInstruction, Text: "Never push to main.", Weight: .1, Message: 7,
	})
	c := bytesOver3{}
	for _, budget := range []int{0, c.Count(text) + 40} {
		got := repaired(t, text, missing, summary.Limits{Counter: c, Budget: budget})
		if !strings.Contains(got, "# Also said\nm7 Never push to main.\n") {
			t.Errorf("the rule is missing in\n%s", got[len(text):])
		}
		_, names, _ := strings.Cut(got, "# Index of names\n")
		if n := c.Count(names); n > c.Count(text)/20 {
			t.Errorf("%d tokens of names beside %d of text, want a twentieth at most", n, c.Count(text))
		}
		if n := c.Count(got); budget > 0 && n > budget {
			t.Errorf("%d tokens, the budget is %d", n, budget)
		}
	}
}

// dear counts a line break as much as a word, as some vocabularies do.
type dear struct{}

func (dear) Count(text string) int {
	return (len(text)+2)/3 + 3*strings.Count(text, "\n") + 2*strings.Count(text, ";")
}

func TestRepairStaysWithinTheBudgetOfAnyCounter(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("some words of a summary ", 60))
	missing := append(append(facts(decant.FactPath, 9, 1), facts(decant.FactError, 9, 1)...),
		facts(decant.FactNumber, 9, 1)...)
	for room := range 60 {
		l := summary.Limits{Counter: dear{}, Budget: dear{}.Count(text) + room}
		if n := l.Counter.Count(repaired(t, text, missing, l)); n > l.Budget {
			t.Fatalf("%d tokens, the budget is %d", n, l.Budget)
		}
	}
}

func TestAccept(t *testing.T) {
	long := strings.Repeat("The parser was rewritten and it is tested. ", 60)
	for _, tt := range []struct {
		name, text string
		limits     summary.Limits
		facts      []decant.Fact
		refused    bool
	}{
		{"Good", long + "path_number0", summary.Limits{Source: 1000}, facts(decant.FactPath, 1, 1), false},
		{"Repaired", long, summary.Limits{Source: 1000}, facts(decant.FactPath, 1, 1), false},
		{"Empty", " \n", summary.Limits{}, nil, true},
		{"ErrorText", "API Error: 529 overloaded", summary.Limits{}, nil, true},
		{"NotSmaller", long, summary.Limits{Source: 300}, nil, true},
		{"OverBudget", long, summary.Limits{Budget: 50}, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := summary.Accept(context.Background(), tt.text, tt.facts, tt.limits)
			if got := errors.Is(err, decant.ErrSummary); got != tt.refused {
				t.Fatalf("got error %v, want refusal %v", err, tt.refused)
			}
			if !tt.refused && len(s.Facts) != len(tt.facts) {
				t.Errorf("got %d facts, want all %d", len(s.Facts), len(tt.facts))
			}
		})
	}
}

func TestHeadTail(t *testing.T) {
	if got := summary.HeadTail("short", 10, 10); got != "short" {
		t.Errorf("got %q", got)
	}
	got := summary.HeadTail("你好世界你好世界", 2, 3)
	if want := "你好\n[… 3 characters left out …]\n好世界"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
