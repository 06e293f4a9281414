package legal

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
)

// markers checks the cache markers in the order of the prefix: tools, system, messages, and last the
// automatic one, which is on the last block.
func (c *checker) markers() {
	m := markerCheck{checker: c}
	for i := range c.view.Fixed.Tools {
		m.see(place{-1, i}, c.view.Fixed.Tools[i].Cache)
	}
	for i := range c.view.Fixed.System {
		m.see(place{-1, i}, c.view.Fixed.System[i].Cache)
	}
	for i := range c.ms {
		for k := range c.ms[i].Blocks {
			b := &c.ms[i].Blocks[k]
			for _, life := range b.Inside {
				m.see(place{i, k}, life)
			}
			m.see(place{i, k}, b.Cache)
			if b.Cache != "" && b.Kind == decant.KindThinking {
				c.report(place{i, k}, CacheMarkerOnThinking, "thinking may not carry a cache marker")
			}
		}
	}
	m.see(request, c.automatic())
}

// automatic returns the lifetime of the automatic breakpoint, or "".
func (c *checker) automatic() string {
	if c.view.Cache == "" && c.rules.Automatic {
		return "5m"
	}
	return c.view.Cache
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
	if m.count++; m.count == cost.MostMarkers+1 {
		m.report(p, CacheMarkersMany, "more than %d cache breakpoints", cost.MostMarkers)
	}
	if lifetime == "1h" && m.short {
		m.report(p, CacheLifetimesOrder, "an entry of an hour after one of five minutes")
	}
	m.short = m.short || lifetime != "1h"
}
