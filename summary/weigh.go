package summary

import (
	"strings"

	"github.com/decantdev/decant/internal/tool"
)

// Values of lines and heads for being said, whatever they say, in chances.
const (
	standingValue = .3    // an instruction of the user that goes on
	userValue     = .03   // another line of the user
	turnValue     = .02   // a decision or an open item
	proseValue    = .01   // another line of the model
	lineValue     = .0003 // any other line, so that a large budget is used
	changeValue   = .2    // a file that was changed, an error that was not resolved
	planValue     = .3    // what is left of the newest plan
	actionValue   = .1    // a call of a tool that is none of the usual ones: something was done in the world
	callValue     = .02   // a call
	indentValue   = .5    // times the chance of the first name: a line of new code that shows its indent
)

// How much the words of some lines count, of one.
const (
	pasted          = 12 // lines after which a text of the user is taken for a paste
	pastedVoice     = .25
	announcingVoice = .4
	userVoice       = 1.6 // of the user in a talk: what a person tells is asked for later
	talk            = .8  // least share of prose that makes a conversation a talk
)

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
		l.voice = float32(d.voice(l))
		if l.tabbed() && l.spans > 0 && d.spans[l.span].start == 2 {
			l.value += indentValue * d.atoms[d.spans[l.span].atom].chance
		}
	}
	for i := range d.groups {
		g := &d.groups[i]
		switch {
		case g.file != nil && g.file.changed+g.file.created > 0:
			g.value = float32(changeValue * d.fresh(max(g.file.changed, g.file.created)))
		case g.section == secErrors:
			g.value = float32(changeValue * d.fresh(g.number))
		case g.call != nil && g.call.Class == tool.Other:
			g.value = actionValue
		case g.call != nil:
			g.value = callValue
		}
	}
}

// voice returns how much the words of a line count. A person who types a lot has pasted it, and
// "Let me look at it:" announces what the calls tell.
func (d *digest) voice(l *line) float64 {
	switch d.groups[l.group].section {
	case secUser:
		switch {
		case d.model && l.rank >= pasted:
			return pastedVoice
		case d.model && d.prose > talk:
			return userVoice
		}
	case secSaid:
		if announces(l.text) {
			return announcingVoice
		}
	}
	return 1
}

// announces reports whether the model says what it is about to do.
func announces(s string) bool {
	for _, p := range [...]string{"Let me ", "Now let me ", "Now I'll ", "I'll ", "Now I ", "Good", "Great", "Perfect", "OK", "Now "} {
		if strings.HasPrefix(s, p) {
			return len(s) < 120
		}
	}
	return false
}

// fresh returns 1 for the last message and less for older ones: half for one a hundred messages back.
func (d *digest) fresh(number int) float64 {
	return 100 / (100 + float64(max(d.to-number, 0)))
}

// saying returns what a line is worth for being said, whatever it says.
func (d *digest) saying(l *line) float64 {
	switch d.groups[l.group].section {
	case secUser:
		if l.standing {
			return standingValue
		}
		return userValue
	case secDecided, secOpen:
		return turnValue
	case secSaid, secLast:
		return proseValue
	}
	return lineValue
}
