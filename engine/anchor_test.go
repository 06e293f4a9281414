package engine_test

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// counts is a provider that counts as a function of a text says.
type counts func(text string) float64

func (c counts) Count(text string) int { return int(math.Round(c(text))) }

// What the ledger says was saved is what a twin without Decant has paid more, whatever the provider's vocabulary: one
// that counts other than Decant estimates, and one that sees another difference between a record and what it stands for.
func TestSavedIsRightWhateverTheProviderCounts(t *testing.T) {
	share := func(f float64) counts {
		e := token.For(lookup("claude-sonnet-4-5"))
		return func(text string) float64 { return f * float64(e.Count(text)) }
	}
	letters := func(n float64) counts {
		return func(text string) float64 { return float64(utf8.RuneCountInString(text)) / n }
	}
	for _, tt := range []struct {
		name    string
		counter decant.Counter
	}{
		{"Fewer", share(0.7)}, {"AsMany", share(1)}, {"More", share(1.4)}, {"ByLetters2.5", letters(2.5)}, {"ByLetters3.6", letters(3.6)}, {"ByLetters4.5", letters(4.5)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newTwin(t, `"system":[`+longSystem+marker+`}],`, marker, sandbox.Options{Counter: tt.counter})
			pours, requests := 0, testkit.Depth(40, 90)
			for range requests {
				w.after(20 * time.Second)
				if w.last.Report.Reason != "" {
					pours++
				}
			}
			sum := w.booked()
			saved, really := (sum.Bare - sum.Cost).USD(), (w.without - sum.Cost).USD()
			what := fmt.Sprintf("%d pours, $%.4f saved by the ledger, $%.4f really (%+.1f%%)", pours, saved, really, 100*(saved/really-1))
			t.Log(what)
			if pours == 0 || really <= 0 || math.Abs(saved/really-1) > 0.03 {
				t.Error(what)
			}
		})
	}
}
