package preset_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/preset"
)

func TestEarlyPoursOverrideTheirLevel(t *testing.T) {
	p, err := preset.Parse("p.yaml", []byte("early_pours: {level: low, keep: 5}\n"))
	if err != nil {
		t.Fatal(err)
	}
	low, got := preset.EarlyPours{Level: "low"}.Settled(), p.EarlyPours.Settled()
	if got.Keep != 5 || got.Patience != low.Patience || got.Quote != low.Quote {
		t.Errorf("got %+v, want the numbers of low %+v but for keep", got, low)
	}
}

func TestErrorsOfEarlyPoursNameTheKey(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"early_pours: {level: hgih}", "early_pours.level"},
		{"early_pours: {quote: 2}", "early_pours.quote"},
		{"early_pours: {patience: -1}", "early_pours.patience"},
		{"early_pours: {keep: -1}", "early_pours.keep"},
		{"early_pours: {kepe: 1}", "kepe"},
	} {
		if _, err := preset.Parse("p.yaml", []byte(tt.yaml)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error that names %s", tt.yaml, err, tt.want)
		}
	}
}

func TestLevelsLeaveOutMore(t *testing.T) {
	var last preset.EarlyPours
	for i, name := range preset.Levels()[1:] {
		l := preset.EarlyPours{Level: name}.Settled()
		if i > 0 && (l.Keep > last.Keep || l.Quote > last.Quote || l.QuoteMost > last.QuoteMost) {
			t.Errorf("%s keeps more than the level before: %+v, %+v", name, l, last)
		}
		last = l
	}
}

func TestWithEarlyPoursRefusesUnknownLevels(t *testing.T) {
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WithEarlyPours("some"); err == nil || !strings.Contains(err.Error(), "off, low, default, high") {
		t.Errorf("got %v, want an error that lists the levels", err)
	}
}
