package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/recall"
)

// A Verification says what of one conversation is still in another.
type Verification struct {
	Before  string                      `json:"before"`
	After   string                      `json:"after"`
	Strings recall.Result               `json:"strings"` // exact strings that user and model wrote: the score
	ByKind  map[decant.FactKind]float64 `json:"by_kind"` // share of fact weight kept, 0 to 1
	Kept    []decant.Fact               `json:"kept"`    // of Decant's own list of what to keep, heaviest first
	Missing []decant.Fact               `json:"missing"` // of that list, heaviest first
}

// NewVerification reports the results of two checks.
func NewVerification(before, after string, strings recall.Result, r fact.Result) *Verification {
	return &Verification{Before: before, After: after, Strings: strings, ByKind: r.ByKind, Kept: heaviest(r.Kept), Missing: heaviest(r.Missing)}
}

func heaviest(facts []decant.Fact) []decant.Fact {
	return slices.SortedStableFunc(slices.Values(facts), func(a, b decant.Fact) int { return cmp.Compare(b.Weight, a.Weight) })
}

// facts returns how many facts were looked for.
func (v *Verification) facts() int { return len(v.Kept) + len(v.Missing) }

// WriteText writes the verification for people, with at most so many of the missing facts.
func (v *Verification) WriteText(w io.Writer, most int) error {
	p := &printer{Writer: w}
	if v.facts()+v.Strings.Strings == 0 {
		p.line("no facts to check: %s holds none that must be kept", v.Before)
		return p.err
	}
	p.line("%s of the exact strings that user and model wrote are still there with their context", portion(v.Strings.Score))
	p.line("(%s: %s there in any form, %s with their context; those of the newest third count double)", Count(v.Strings.Strings, "string"), Thousands(v.Strings.Present), Thousands(v.Strings.Grounded))
	p.line("of Decant's own list of what to keep, %d of %d are there:", len(v.Kept), v.facts())
	for _, kind := range slices.Sorted(maps.Keys(v.ByKind)) {
		p.line("  %-12s %3.0f%%", kind, 100*v.ByKind[kind])
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
