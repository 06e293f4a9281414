package preset

import (
	"cmp"
	"fmt"
	"strings"
)

// EarlyPours says when there are early pours, and how much they leave out. If a field is zero, the level
// decides; an empty level means "default".
type EarlyPours struct {
	Level string `yaml:"level"` // "off", "low" (careful), "default" or "high" (eager)
	// how many times the price of the rewrite it must have cost to carry what could go
	Patience  float64 `yaml:"patience"`
	Keep      int     `yaml:"keep"`       // newest rounds that stay verbatim
	Least     int     `yaml:"least"`      // tokens; smaller results and arguments are left alone
	Quote     float64 `yaml:"quote"`      // share of an old result whose lines stay
	QuoteMost int     `yaml:"quote_most"` // tokens of such lines in one result
	Names     int     `yaml:"names"`      // tokens of names behind the lines
	// tokens that the messages have after an early pour with the first checkpoint, and a third of the fixed
	// part besides; later ones leave a 32nd of what is covered more
	Target int `yaml:"target"`
}

// off is the level without early pours.
const off = "off"

// level returns the numbers of a level, and false if no level has that name. We found the numbers by
// playing recorded sessions of three projects through some hundred combinations; docs/ECONOMICS.md has
// the table.
func level(name string) (EarlyPours, bool) {
	switch name {
	case off:
		return EarlyPours{Level: off}, true
	case "low":
		return EarlyPours{
			Level: name, Patience: 1.3, Keep: 8, Least: 60, Quote: 0.35, QuoteMost: 2000, Names: 50,
			Target: 20_000,
		}, true
	case "", "default":
		return EarlyPours{
			Level: "default", Patience: 1.2, Keep: 3, Least: 60, Quote: 0.3, QuoteMost: 1500, Names: 50,
			Target: 13_000,
		}, true
	case "high":
		return EarlyPours{
			Level: name, Patience: 1, Keep: 2, Least: 60, Quote: 0.15, QuoteMost: 500, Names: 50,
			Target: 10_000,
		}, true
	}
	return EarlyPours{}, false
}

// Levels returns the names of the levels, fewest early pours first.
func Levels() []string { return []string{off, "low", "default", "high"} }

// On reports whether t allows early pours.
func (t EarlyPours) On() bool { return t.Level != off }

// Settled returns t with the numbers of its level in fields that are zero.
func (t EarlyPours) Settled() EarlyPours {
	l, _ := level(t.Level)
	return EarlyPours{
		Level: l.Level, Patience: cmp.Or(t.Patience, l.Patience), Keep: cmp.Or(t.Keep, l.Keep),
		Least: cmp.Or(t.Least, l.Least),
		Quote: cmp.Or(t.Quote, l.Quote), QuoteMost: cmp.Or(t.QuoteMost, l.QuoteMost), Names: cmp.Or(t.Names, l.Names),
		Target: cmp.Or(t.Target, l.Target),
	}
}

// WithEarlyPours returns a copy of p at another level of early pours. It drops the numbers that p has.
func (p *Preset) WithEarlyPours(name string) (*Preset, error) {
	if _, ok := level(name); !ok {
		return nil, fmt.Errorf("no level of early pours named %q: there are %s", name, strings.Join(Levels(), ", "))
	}
	out := *p
	out.EarlyPours, out.CheapReads.EarlyPours = EarlyPours{Level: name}, nil
	return &out, nil
}
