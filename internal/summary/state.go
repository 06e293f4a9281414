package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// Bounds of what is said of the state of the work.
const (
	mostOutcomes = 8    // newest outcomes of different commands
	mostEffects  = 24   // newest of what other tools did
	errorChars   = 1500 // of the newest failing error
	lastChars    = 900  // of the model's last words
)

// takeState takes in the state of the work: the newest outcome of each build, test and other step, what other tools
// did, the newest error that nothing has put right since, and what happened last.
func (b *book) takeState() {
	stated := map[*act]bool{} // whose outcome is said
	b.takeOutcomes(stated)
	b.takeEffects(stated)
	b.takePlace()
	b.takeLast(stated)
}

// takeOutcomes takes in the newest outcomes of steps. What came of a step is of no interest once the same was done again
// as widely; of those that went well only the widest is.
func (b *book) takeOutcomes(stated map[*act]bool) {
	var newer []tool.Step // whose outcome is known
	failing := false
	for i := len(b.src.acts) - 1; i >= 0 && len(stated) < mostOutcomes; i-- {
		a := b.src.acts[i]
		steps := a.Steps()
		if len(steps) == 0 || !a.done || a.outcome.Status == tool.Started {
			continue
		}
		if !slices.ContainsFunc(steps, func(s tool.Step) bool { return !outdated(&s, a.outcome.Status == tool.Failed, newer) }) {
			continue
		}
		if a.known() {
			newer = append(newer, steps...)
		}
		stated[a] = true
		g := b.heading("", i)
		b.add(entry{sec: secState, group: g, number: a.number, text: a.outcomeLine(), line: -1, must: mustState})
		if a.failed && !failing && !b.noResults {
			failing = true
			if e := a.error(b.errorRoom()); e != "" {
				b.add(entry{sec: secState, group: g, number: a.number, text: e, line: -1, must: mustState})
			}
		}
	}
}

// known reports whether it is known how a call ended.
func (a *act) known() bool { return a.outcome.Status == tool.OK || a.outcome.Status == tool.Failed }

// outdated reports whether newer steps have made the outcome of an older one pointless.
func outdated(old *tool.Step, failed bool, newer []tool.Step) bool {
	return slices.ContainsFunc(newer, func(s tool.Step) bool {
		return s.Covers(old) || !failed && s.Kind == old.Kind && s.Family == old.Family && !old.Covers(&s)
	})
}

// takeEffects takes in what tools did that are neither shells nor about files, in their own words: of several calls
// about the same thing the newest.
func (b *book) takeEffects(stated map[*act]bool) {
	seen := map[string]bool{}
	for i := len(b.src.acts) - 1; i >= 0 && len(seen) < mostEffects; i-- {
		a := b.src.acts[i]
		if !a.effect || seen[a.about()] {
			continue
		}
		seen[a.about()] = true
		stated[a] = true
		b.add(entry{
			sec: secState, group: b.heading("", i), number: a.number, text: a.outcomeLine(), line: -1, must: mustEffect,
		})
	}
}

// about returns the tool of a call and what it is about: the same thing is done to it again.
func (a *act) about() string {
	if a.said != "" {
		title, _, _ := strings.Cut(a.said, " → ")
		return title
	}
	for _, v := range a.values {
		if tool.IsID(strings.ToLower(v.name)) {
			return a.Name + " " + v.text
		}
	}
	return a.title()
}

// takePlace takes in where commands were run last.
func (b *book) takePlace() {
	for i := len(b.src.acts) - 1; i >= 0; i-- {
		if a := b.src.acts[i]; a.Dir != "" {
			b.add(entry{
				sec: secState, group: b.heading("", len(b.src.acts)), number: a.number,
				text: b.say("commands run in ", "命令运行于 ") + a.Dir, line: -1, must: mustState,
			})
			b.lex.see(b.lex.line(a.Dir, false), a.index, decant.AuthorModel)
			return
		}
	}
}

// takeLast takes in the model's last words and the newest call.
func (b *book) takeLast(stated map[*act]bool) {
	if n := len(b.src.acts); n > 0 && b.src.acts[n-1].Class != tool.Todo && !stated[b.src.acts[n-1]] {
		a := b.src.acts[n-1]
		b.add(entry{sec: secLast, group: -1, text: a.outcomeLine(), line: -1, number: a.number, must: mustState})
	}
	for i := len(b.src.texts) - 1; i >= 0; i-- {
		t := b.src.texts[i]
		if t.author != byModel {
			continue
		}
		if t.number > 0 && b.src.to-t.number > 6 {
			return
		}
		ls := lines(t.body)
		n, k := 0, len(ls)
		for k > 0 && n+len(ls[k-1]) <= lastChars {
			n += len(ls[k-1]) + 1
			k--
		}
		if k < len(ls) {
			b.add(entry{sec: secLast, group: -1, text: strings.Join(ls[k:], "\n"), line: -1, number: t.number, must: mustState})
		}
		return
	}
}

// errorRoom returns how many bytes of an error there is room for: what a fifth of the record holds.
func (b *book) errorRoom() int {
	return min(errorChars, int(b.budget/5/perChar))
}

// error returns the error of a call that failed, from its first line on, whole lines of at most room bytes.
func (a *act) error(room int) string {
	var out []string
	n := 0
	begun := false
	for _, ln := range lines(a.result) {
		begun = begun || tool.IsError(ln)
		if !begun {
			continue
		}
		if n += len(ln) + 1; n > room || len(ln) > widest {
			break
		}
		out = append(out, ln)
	}
	return strings.Join(out, "\n")
}
