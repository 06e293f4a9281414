package summarize

import (
	"testing"
	"time"

	"github.com/decantdev/decant/token"
)

// Prices of the catalogue on that day, per million tokens: Opus 4.5 takes 5 for input, 0.50 for reading the cache and 25 for
// output, Haiku 4.5 takes 1 and 5.
func TestOffers(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	c, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	opus, _ := c.Lookup("claude-opus-4-5")
	haiku, _ := c.Lookup("claude-haiku-4-5")
	for _, x := range []struct {
		name      string
		on, plain offer
		usd, than float64
		want      bool
	}{
		{"SameModel", offer{opus, 100_000, 2000, 1000}, offer{opus, 0, 100_000, 1000}, .05 + .01 + .025, .5 + .025, true},
		{"CheapModelReadsAll", offer{opus, 100_000, 2000, 1000}, offer{haiku, 0, 100_000, 1000}, .085, .1 + .005, true},
		{"CheapModelReadsPreviews", offer{opus, 100_000, 2000, 1000}, offer{haiku, 0, 30_000, 1000}, .085, .03 + .005, false},
		{"LongAnswer", offer{opus, 10_000, 2000, 4000}, offer{haiku, 0, 10_000, 4000}, .005 + .01 + .1, .01 + .02, false},
		{"Even", offer{haiku, 0, 1000, 10}, offer{haiku, 0, 1000, 10}, .00105, .00105, false},
		{"NoPrice", offer{token.Model{ID: "local"}, 1, 1, 1}, offer{haiku, 0, 1_000_000, 1}, 0, 1.000005, false},
		{"NoPriceOfTheOther", offer{haiku, 1, 1, 1}, offer{token.Model{ID: "local"}, 0, 1_000_000, 1}, .0000061, 0, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, p := range []struct {
				o    offer
				want float64
			}{{x.on, x.usd}, {x.plain, x.than}} {
				if got, _ := p.o.price(at); got < p.want-1e-9 || got > p.want+1e-9 {
					t.Errorf("$%.6f, want $%.6f", got, p.want)
				}
			}
			if got := x.on.cheaper(x.plain, at); got != x.want {
				t.Errorf("on the cached prompt: %v", got)
			}
		})
	}
}
