package legal

import "github.com/decantdev/decant"

// mostMarkers is how many cache breakpoints a request may have.
const mostMarkers = 4

// markers checks the cache markers in the order of the prefix: tools, system, messages.
func (c *checker) markers() {
	m := markerCheck{checker: c}
	if c.rules.Automatic {
		m.count++
	}
	for i := range c.view.Fixed.Tools {
		m.see(place{-1, i}, c.view.Fixed.Tools[i].Cache)
	}
	for i := range c.view.Fixed.System {
		m.see(place{-1, i}, c.view.Fixed.System[i].Cache)
	}
	for i := range c.ms {
		for k := range c.ms[i].Blocks {
			b := &c.ms[i].Blocks[k]
			m.see(place{i, k}, b.Cache)
			if b.Cache != "" && b.Kind == decant.KindThinking {
				c.report(place{i, k}, NoMarker, "thinking may not carry a cache marker")
			}
		}
	}
}

type markerCheck struct {
	*checker
	count int
	short bool // a marker of five minutes was seen
}

func (m *markerCheck) see(p place, lifetime string) {
	if lifetime == "" {
		return
	}
	if m.count++; m.count == mostMarkers+1 {
		m.report(p, Breakpoints, "more than %d cache breakpoints", mostMarkers)
	}
	if lifetime == "1h" && m.short {
		m.report(p, Lifetimes, "an entry of an hour after one of five minutes")
	}
	m.short = m.short || lifetime != "1h"
}
