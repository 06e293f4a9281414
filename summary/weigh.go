package summary

import (
	"math"
	"math/bits"
	"os"
	"strconv"

	"github.com/decantdev/decant"
)

func env(k string, d float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(k), 64); err == nil {
		return v
	}
	return d
}

// The chance that a fact is needed again is a logistic function of what is known about it. The
// coefficients were fitted on facts of real coding sessions: those that the assistant wrote within forty
// messages after a cut, without having been shown them again, against those it did not.

// sinceLast, sinceAuthored and sinceFirst are the terms for the number of messages since the fact
// was seen last, written last by user or model, and seen first: for 1, 2, 3-4, 5-8, 9-16, ... messages.
var (
	sinceLast     = [...]float64{.3, .45, -.2, -.22, -.4, -.62, -.65, -1.2, -1.9, -3, -4}
	sinceAuthored = [...]float64{.1, .15, .2, .2, -.45, -.3, -.38, -.4, -.55, -.9, -1}
	sinceFirst    = [...]float64{-.4, -.4, -.25, -.2, -.15, -.3, -.55, -.85, -1, -1.1, -1.2}
)

// neverAuthored is the term for facts that only tools wrote.
const neverAuthored = -1.5

// ofKind are the terms for kinds of facts, and for those that stand within another.
var ofKind = map[decant.FactKind][2]float64{
	decant.FactIdentifier: {-.3, -.3},
	decant.FactPath:       {-.8, -.8},
	decant.FactNumber:     {-.6, -1.8},
	decant.FactFlag:       {-.5, -.5},
	decant.FactHash:       {-.8, -3.8},
	decant.FactError:      {-.6, -.6},
	decant.FactURL:        {-2.8, -2.8},
}

func bin(messages int32) int { return min(bits.Len32(uint32(max(messages, 1)-1)), len(sinceLast)-1) }

// chance returns the chance that a is needed again, n messages having passed in all.
func (a *atom) chanceAt(n int32) float64 {
	t := ofKind[a.kind]
	z := -1.4 + t[0]
	if a.inner {
		z = -1.4 + t[1]
	}
	z += .19 * math.Log(float64(len(a.text)))
	z += .24*log1p(a.user) + .14*log1p(a.model) + .21*log1p(a.arg) + .16*log1p(a.tool) + .28*math.Log(float64(max(a.messages, 1)))
	if a.arg > 0 {
		z += .14
	}
	if a.model > 0 {
		z += .3
	}
	if a.tool > 0 {
		z -= .5
	}
	z += sinceLast[bin(n-a.last)] + sinceFirst[bin(n-a.first)]
	if a.user+a.model+a.arg > 0 {
		z += sinceAuthored[bin(n-a.authored)]
	} else {
		z += neverAuthored
	}
	return 1 / (1 + math.Exp(-z))
}

func log1p(n int32) float64 {
	if n < int32(len(logs)) {
		return logs[n]
	}
	return math.Log1p(float64(n))
}

var logs = func() (t [64]float64) {
	for i := range t {
		t[i] = math.Log1p(float64(i))
	}
	return t
}()

var tb = env("TB", .5)
var ub, mb, eb, fb, cb = env("UB", .05), env("MB", .01), env("EB", .1), env("FB", .2), env("CB", .02)

// weigh gives facts their chances and lines their values.
func (d *digest) weigh() {
	n := int32(d.messages)
	for i := range d.atoms {
		a := &d.atoms[i]
		a.chance = float32(a.chanceAt(n))
	}
	for i := range d.lines {
		l := &d.lines[i]
		rel := .5 + float64(l.message)/float64(n)
		switch d.groups[l.group].section {
		case secUser:
			l.value = float32(ub * rel)
		case secDecided, secOpen:
			l.value = float32(mb * rel * 1.3)
		case secSaid:
			l.value = float32(mb * rel)
		}
		if l.spans > 0 && d.spans[l.span].start == 2 && l.text[0] == '\\' {
			l.value += float32(tb) * d.atoms[d.spans[l.span].atom].chance
		}
	}
	for i := range d.groups {
		g := &d.groups[i]
		switch {
		case g.file != nil && g.file.changed+g.file.created > 0:
			g.value = float32(fb)
		case g.section == secErrors:
			g.value = float32(fb)
		case g.call != nil:
			g.value = float32(cb)
		}
	}
}
