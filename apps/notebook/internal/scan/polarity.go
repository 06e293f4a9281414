package scan

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// Words that negate what follows, and those of languages without spaces.
const (
	nots = `no|not|never|don'?t|don’t|do not|doesn'?t|won'?t|can'?t|cannot|shouldn'?t|mustn'?t|avoid|stop|` +
		`instead of|rather than|no longer|nicht|kein|keine|keinen|nie|niemals|statt|pas|jamais|plus jamais|au lieu|nunca|en lugar de|en vez de`
	easternNots = `不|别|禁止|ないで|しない|決して|하지|절대`
)

var (
	// clause separates the clauses of a sentence.
	clause = lazyregexp.New(`[,;:.!?()]\s|\s[-–—]+\s|\b(but|because|since|as (i|we|you|it|they|the)|then|so|aber|weil|dann|mais|pero|porque)\b|，|；`)
	// contrast names what is not meant.
	contrast = lazyregexp.New(`(,|\band|\bbut) not [^,.;]*|\b(instead of|rather than|statt|au lieu de|plutôt que|en (lugar|vez) de)\b[^,.;]*`)
	// affirmed is a negation that asks for what it names: "don't forget to".
	affirmed = lazyregexp.New(`\b(do not|don'?t|don’t|never) forget( to)?\b`)
	// forbidding are words that negate what follows.
	forbidding = lazyregexp.New(`\b(` + nots + `)(?:$|[^\pL])|` + easternNots)
	// state is a defect, not an order: "migrations not running".
	state = lazyregexp.New(`\b(\w{3,}s|\w+(?:tion|ment|problem|issue|error|bug)) not \w+ing\b`)
	// refusing begins a clause that forbids something or removes it.
	refusing = lazyregexp.New(`(?m)^\W*((please|ok|okay|yes|no|and|also|so|just|actually|let'?s|lets|we|you|can|could|should|now|from|on|going|forward|in|future|the|want|to) ?,? ?)*(do not|don'?t|don’t|never|no|not|stop|avoid|no longer|mustn'?t|remove|delete|drop|kill|undo|revert|skip|ignore|disable|retire|get rid|nicht|kein|nie|pas|jamais|nunca)\b|不|别|禁止|ないで|しない|하지`)
	// lacking is a negation that a second one cancels: "never push without a test".
	lacking = lazyregexp.New(`\bwithout\b`)
	// taking are words for removing something.
	taking = lazyregexp.New(`(?m)(?:^\W*|\b(?:can|could|should|would|let'?s|to|please|and|just|we|you|i|also|not|don'?t|dont|never|must) )(?:remov|delet|drop|kill|undo|revert|skip|ignor|disabl|retir)(?:e|es|ed|ing|ping|ped|s)?\b|\bget(ting)? rid of\b`)
)

// agree reports whether two sentences about the words w both want something, or both do not.
func agree(a, b string, w bag) bool {
	a, b = concerning(a, w), concerning(b, w)
	if swapped(about(a), about(b), w) {
		return false
	}
	takesA, takesB := taking.MatchString(a), taking.MatchString(b)
	if takesA && takesB { // what one takes away the other takes away too
		takesA, takesB = false, false
	}
	return (forbids(a) != takesA) == (forbids(b) != takesB)
}

// opposes reports whether a sentence that does not agree with a rule orders the opposite. The clause must
// begin with the negation: elsewhere in a sentence it is mostly about something else.
func opposes(rule, sentence string, both bag) bool {
	if forbids(concerning(rule, both)) {
		return acts(rule, sentence, both, true)
	}
	for _, c := range strings.Split(concerning(sentence, both), "\n") {
		for _, part := range strings.Split(c, " and ") { // "delete the log and restart the server" is an order to restart
			if overlap(both, about(part)) > 0 && refusing.MatchString(part) {
				return true
			}
		}
	}
	return false
}

// swapped reports whether one sentence wants what the other rejects: "npm instead of pnpm" for "pnpm, not
// npm". a and b are the words of what each wants, w the words that both have.
func swapped(a, b, w bag) bool {
	onlyA, onlyB := 0, 0
	for word := range w {
		switch {
		case a[word] && !b[word]:
			onlyA++
		case b[word] && !a[word]:
			onlyB++
		}
	}
	return onlyA > 0 && (onlyB > 0 || overlap(w, b) == 0) || onlyB > 0 && overlap(w, a) == 0
}

// forbids reports whether an order in lower case forbids something.
func forbids(low string) bool {
	return forbidding.MatchString(low) != lacking.MatchString(low)
}

// concerning returns the clauses of a sentence that have one of the words, in lower case and without contrasts.
func concerning(s string, w bag) string {
	low := state.ReplaceAllString(affirmed.ReplaceAllString(strings.ToLower(s), ""), "$1")
	low = contrast.ReplaceAllString(low, "")
	var out []string
	for _, c := range clause.Split(low, -1) {
		if overlap(w, about(c)) > 0 {
			out = append(out, c)
		}
	}
	return strings.Join(out, "\n")
}

// weak begins a rule whose verb says little: its object counts.
var weak = lazyregexp.New(`^(always |never |please |do not |don'?t |don’t )*(use|using|keep|prefer|avoid|get|put|take|stick)\b`)

// acts reports whether a sentence asks for the act of a rule, its first word, rather than only naming it: a
// clause begins with the act and has another of the shared words, or each shared word begins a clause. If the
// verb is weak, one clause must have all words of the rule.
func acts(rule, sentence string, both bag, all bool) bool {
	act, asked := lead(strings.ToLower(rule)), bag{}
	free := act == "" || weak.MatchString(strings.ToLower(rule))
	if free && !all {
		return false
	}
	for _, c := range clause.Split(strings.ToLower(sentence), -1) {
		begins := free
		for _, part := range strings.Split(c, " and ") {
			word := lead(part)
			asked[word] = true
			begins = begins || word == act
		}
		if begins && overlap(both, about(c)) > 1 {
			return true
		}
	}
	return asked[act] && overlap(both, asked) == len(both)
}

// lead returns the first content word of a clause, or "" if there is none or the script has no spaces.
func lead(c string) string {
	for w := range strings.FieldsSeq(c) {
		for stem := range about(w) {
			if stem[0] < 0x80 {
				return stem
			}
		}
	}
	return ""
}
