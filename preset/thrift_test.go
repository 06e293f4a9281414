package preset_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/preset"
)

func TestThriftOverridesItsLevel(t *testing.T) {
	p, err := preset.Parse("p.yaml", []byte("thrift: {level: low, keep: 5}\n"))
	if err != nil {
		t.Fatal(err)
	}
	low, got := preset.Thrift{Level: "low"}.Settled(), p.Thrift.Settled()
	if got.Keep != 5 || got.Patience != low.Patience || got.Quote != low.Quote {
		t.Errorf("got %+v, want the numbers of low %+v but for keep", got, low)
	}
}

func TestThriftErrorsNameTheKey(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"thrift: {level: hgih}", "thrift.level"},
		{"thrift: {quote: 2}", "thrift.quote"},
		{"thrift: {patience: -1}", "thrift.patience"},
		{"thrift: {keep: -1}", "thrift.keep"},
		{"thrift: {kepe: 1}", "kepe"},
	} {
		if _, err := preset.Parse("p.yaml", []byte(tt.yaml)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error that names %s", tt.yaml, err, tt.want)
		}
	}
}

func TestLevelsGetThriftier(t *testing.T) {
	var last preset.Thrift
	for i, name := range preset.Levels()[1:] {
		l := preset.Thrift{Level: name}.Settled()
		if i > 0 && (l.Keep > last.Keep || l.Quote > last.Quote || l.QuoteMost > last.QuoteMost) {
			t.Errorf("%s keeps more than the level before: %+v, %+v", name, l, last)
		}
		last = l
	}
}

func TestWithThriftRefusesUnknownLevels(t *testing.T) {
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WithThrift("some"); err == nil || !strings.Contains(err.Error(), "off, low, default, high") {
		t.Errorf("got %v, want an error that lists the levels", err)
	}
}
