package summary

import (
	"os"
	"strconv"
)

func env(k string, d float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(k), 64); err == nil {
		return v
	}
	return d
}

var tb = env("TB", .5)
var ub, mb, fb, cb = env("UB", .03), env("MB", .01), env("FB", .2), env("CB", .02)
var ib, db = env("IB", .3), env("DB", .02)

// weigh gives facts their chances and lines and heads their values.
func (d *digest) weigh() {
	for i := range d.atoms {
		a := &d.atoms[i]
		a.chance = float32(a.seen.Chance(a.kind, a.text, d.messages))
	}
	n := float64(d.messages)
	for i := range d.lines {
		l := &d.lines[i]
		rel := .5 + float64(l.message)/n
		l.value = float32(d.saying(l) * rel)
		if l.tabbed() && l.spans > 0 && d.spans[l.span].start == 2 {
			l.value += float32(tb) * d.atoms[d.spans[l.span].atom].chance
		}
	}
	for i := range d.groups {
		g := &d.groups[i]
		switch {
		case g.file != nil && g.file.changed+g.file.created > 0, g.section == secErrors:
			g.value = float32(fb)
		case g.call != nil:
			g.value = float32(cb)
		}
	}
}

// saying returns what a line is worth for being said, whatever it says.
func (d *digest) saying(l *line) float64 {
	switch d.groups[l.group].section {
	case secUser:
		if l.standing {
			return ib
		}
		return ub
	case secDecided, secOpen:
		return db
	case secSaid, secLast:
		return mb
	}
	return 0
}
