package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
)

// A Verification says which facts of one conversation are still in another.
type Verification struct {
	Before  string                      `json:"before"`
	After   string                      `json:"after"`
	Score   float64                     `json:"score"` // share of fact weight kept, 0 to 1
	ByKind  map[decant.FactKind]float64 `json:"by_kind"`
	Kept    []decant.Fact               `json:"kept"`    // heaviest first
	Missing []decant.Fact               `json:"missing"` // heaviest first
}

// NewVerification reports the result of a check.
func NewVerification(before, after string, r fact.Result) *Verification {
	return &Verification{Before: before, After: after, Score: r.Score, ByKind: r.ByKind, Kept: heaviest(r.Kept), Missing: heaviest(r.Missing)}
}

func heaviest(facts []decant.Fact) []decant.Fact {
	return slices.SortedStableFunc(slices.Values(facts), func(a, b decant.Fact) int { return cmp.Compare(b.Weight, a.Weight) })
}

// WriteText writes the verification for people, with at most so many of the missing facts.
func (v *Verification) WriteText(w io.Writer, most int) error {
	p := &printer{Writer: w}
	p.line("%d of %d must-keep facts survive, %.0f %% by weight", len(v.Kept), len(v.Kept)+len(v.Missing), 100*v.Score)
	for _, kind := range slices.Sorted(maps.Keys(v.ByKind)) {
		p.line("  %-12s %3.0f %%", kind, 100*v.ByKind[kind])
	}
	if len(v.Missing) == 0 {
		return p.err
	}
	p.line("missing, heaviest first:")
	for _, f := range v.Missing[:min(most, len(v.Missing))] {
		p.line("  %-12s %-5s %s", f.Kind, fmt.Sprintf("m%d", f.Message), clip(f.Text, 100))
	}
	if rest := len(v.Missing) - most; rest > 0 {
		p.line("  and %d more: --all lists them", rest)
	}
	return p.err
}
