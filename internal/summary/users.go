package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// nodWords is how many words a yes or no may have: "yes, go ahead please".
const nodWords = 4

// What a person types has few lines; what is longer was pasted.
const (
	typedLines = 12
	typedChars = 1500
)

// Parts of the budget for what the user said.
const (
	userShare = .5      // beyond it the oldest texts that are no rule are shortened
	overShare = .1      // for what they said in finished jobs, beside what came of these
	ruleShare = .08     // for saying the rules once more, under a heading of their own
	taskShare = 1. / 4. // the first text and the request in hand may be so large and stay whole, pasted or not
)

// An utterance is one text of the user with what becomes of it.
type utterance struct {
	*text
	lines []string
	rules []string // those of its lines that go on being in force
	cost  float64
	short bool
	over  bool // it belongs to a finished job, of which the record says what came of it
}

// A userWords is what the user said, as it is taken into a book.
type userWords struct {
	book  *book
	texts []utterance
}

// takeUsers takes in what the user said: whole as it was typed, with the oldest shortened where there is too
// much of it, and the rules in it.
func (b *book) takeUsers() {
	if !b.src.model {
		b.takeMeeting()
		return
	}
	w := userWords{book: b, texts: b.utterances()}
	rest, crowded := mustUser, w.crowded()
	if crowded {
		rest = compete
	}
	newest := w.newest()
	w.shorten(newest)
	w.leave(newest)
	for i := range w.texts {
		u := &w.texts[i]
		when := rest
		switch {
		case i == 0 || i >= newest:
			when = mustGoal
		case u.over:
			when = compete
		case len(u.rules) > 0 && !u.short:
			when = mustRule
		}
		w.utter(u, when)
	}
	if crowded { // the rules are above, and the current request was said last
		return
	}
	w.rules()
	if newest >= 0 && w.texts[newest].number > 0 {
		b.add(entry{
			sec: secGoal, group: -1,
			text: b.say("The request in hand is ", "当前的请求是 ") + w.texts[newest].text.name() + b.say(".", "。"),
			line: -1, must: mustGoal,
		})
	}
}

// crowded reports whether people talked, and the user said so much that most of it has to go. Then what says
// more stays, whoever said it, and of the rules those that are addressed to the model: where few words are the
// user's, a rule too many costs nothing; here it takes the room of what the talk was about.
func (w *userWords) crowded() bool {
	total := 0.
	for i := range w.texts {
		total += w.texts[i].cost
	}
	if !w.book.talk || total <= userShare*w.book.budget {
		return false
	}
	for i := range w.texts {
		w.texts[i].rules = slices.DeleteFunc(w.texts[i].rules, func(r string) bool { return !fact.Order(r) })
	}
	return true
}

// newest returns the index of the request in hand: the newest text that is more than a yes or no.
func (w *userWords) newest() int {
	i := len(w.texts) - 1
	for i > 0 && w.texts[i].nod() {
		i--
	}
	return i
}

// name is the short name of the text's message.
func (t *text) name() string { return strings.TrimSpace(cite(t.number)) }

// utterances returns the texts of the user.
func (b *book) utterances() (us []utterance) {
	for _, t := range b.src.texts {
		if t.author != byUser && t.author != byAnswer {
			continue
		}
		u := utterance{text: t, cost: estimate(t.body) + 4}
		u.lines = lines(t.body)
		prose := u.typed()
		for _, ln := range u.lines {
			for _, s := range quotable(ln) {
				if k, ok := fact.Sentence(decant.AuthorUser, s); ok && k == decant.FactInstruction && (prose || readsAsProse(s)) {
					u.rules = append(u.rules, strings.TrimSpace(s))
				}
			}
			b.lex.see(b.lex.line(strings.TrimSpace(ln), true), t.index, decant.AuthorUser)
		}
		us = append(us, u)
	}
	return us
}

// readsAsProse reports whether a line of a long paste is a sentence rather than code or a log: at least half
// of it, and two words, are plain. Text between backquotes counts as one name.
func readsAsProse(ln string) bool {
	ln = strings.TrimSpace(ln)
	for i, part := range strings.Split(ln, "`") {
		if i%2 == 0 && strings.ContainsAny(part, "{};=<>|$\\") {
			return false
		}
	}
	all, plain := 0, 0
	for _, w := range strings.Fields(ln) {
		if w = strings.Trim(w, ".,:!?()\"'*_-"); w == "" {
			continue
		}
		all++
		if !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("'’-", r) }) {
			plain++
		}
		if w[0] >= 0xe3 && w[0] < 0xee { // a script without blanks
			return true
		}
	}
	return plain >= 2 && 2*plain >= all
}

// assents are words of texts that ask for nothing new.
var assents = wordSet("yes yep yeah y no nope n ok okay sure fine good great nice perfect cool right correct agreed done thanks thank you please go on ahead continue proceed keep going do it " +
	"ja nein weiter gut danke oui non continue merci sí si no sigue gracias sim はい いいえ 続けて お願いします 好 好的 是 是的 不 对 行 可以 嗯 继续 谢谢")

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// nod reports whether the user only said yes or no, or chose: what is in hand was said before.
func (u *utterance) nod() bool {
	words := strings.FieldsFunc(strings.ToLower(u.body), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return u.author == byAnswer || len(words) <= nodWords && !slices.ContainsFunc(words, func(w string) bool {
		return !assents[w] && utf8.RuneCountInString(w) > 1
	})
}

// typed reports whether a person typed the text rather than pasted it.
func (u *utterance) typed() bool {
	return len(u.lines) <= typedLines && utf8.RuneCountInString(u.body) <= typedChars
}

// shorten marks the texts that do not stay whole: what was pasted, and then, while the user's words would
// take more than half of the budget, the oldest that are no rule.
func (w *userWords) shorten(newest int) {
	total := 0.
	for i := range w.texts {
		u := &w.texts[i]
		if u.short = !u.typed() && !((i == 0 || i >= newest) && u.cost <= taskShare*w.book.budget); u.short {
			u.cost = min(u.cost, shortCost)
		}
		total += u.cost
	}
	for _, rules := range [...]bool{false, true} { // of rules alone more may stay
		limit := userShare
		if rules {
			limit = shares[mustRule]
		}
		for i := range w.texts {
			u := &w.texts[i]
			if total <= limit*w.book.budget || u.short || u.cost <= shortCost || rules == (len(u.rules) == 0) {
				continue
			}
			u.short = true
			total -= u.cost - shortCost
		}
	}
}

// leave leaves the user's words in finished jobs to compete with everything else, the oldest first, as far as
// there is no room for them. Their rules get their own heading.
func (w *userWords) leave(newest int) {
	room := overShare * w.book.budget
	for i := newest - 1; i > 0; i-- {
		u := &w.texts[i]
		if u.index >= w.book.present {
			continue
		}
		if room -= u.cost; room < 0 {
			u.over, u.short = true, true
		}
	}
}

// The ends of a text that is shortened, in characters.
const (
	headChars = 400
	tailChars = 200
	shortCost = (headChars+tailChars)/4 + 20 // about its tokens
)

// utter adds the entry of a text of the user.
func (w *userWords) utter(u *utterance, when must) {
	body := u.body
	if u.short {
		body = ends(u.lines, u.handle)
		w.rest(u)
	}
	e := entry{sec: secUser, group: -1, number: u.number, text: body, line: -1, must: when}
	if when == compete {
		e.line, e.value, e.voice = w.book.lex.line(body, true), lineValue, plainVoice
	}
	if u.author == byAnswer {
		e.sec = secAnswers
		e.text = w.book.say("asked: ", "问：") + strings.Join(strings.Fields(u.question), " ") + "\n" + w.book.say("answered: ", "答：") + body
	}
	w.book.add(e)
}

// rest offers the lines of a text that is shortened as quotes.
func (w *userWords) rest(u *utterance) {
	w.book.quote(u.body, w.book.heading(cite(u.number)+w.book.say("pasted by the user:", "用户粘贴："), u.index), u.index, decant.AuthorUser)
}

// ends returns the first and the last lines of a text with a mark between them that says how much is left
// out and how to get it back; the whole text when that would not be shorter.
func ends(ls []string, h decant.Handle) string {
	i, n := 0, 0
	for i < len(ls) && n+len(ls[i]) <= headChars {
		n += len(ls[i]) + 1
		i++
	}
	j, m := len(ls), 0
	for j > i && m+len(ls[j-1]) <= tailChars {
		m += len(ls[j-1]) + 1
		j--
	}
	out := 0
	for _, l := range ls[i:j] {
		out += utf8.RuneCountInString(l) + 1
	}
	if out == 0 {
		return strings.Join(ls, "\n")
	}
	mark := fmt.Sprintf("[… %d characters left out: %s]", out, h)
	if i == 0 { // the first line alone is too long: its beginning at a word
		mark = ls[0][:wordBefore(ls[0], min(len(ls[0]), headChars))] + "\n" + mark
	}
	return strings.Join(slices.Concat(ls[:i], []string{mark}, ls[j:]), "\n")
}

// rules says the rules that the user gave under a heading of their own, the newest first as far as there is
// room; those of texts that are shortened in any case.
func (w *userWords) rules() {
	room := math.Max(ruleShare*w.book.budget, 40)
	seen := map[string]bool{}
	for i := len(w.texts) - 1; i >= 0; i-- {
		u := &w.texts[i]
		for _, r := range slices.Backward(u.rules) {
			e := entry{sec: secRules, group: -1, number: u.number, text: r, line: -1, must: mustRule}
			cost := estimate(r) + 4
			if seen[r] || !u.short && cost > room {
				continue
			}
			if !u.short {
				room -= cost
				e.must = mustPlan // it is above already
			}
			seen[r] = true
			w.book.add(e)
		}
	}
}

// takeMeeting takes in a conversation in which no model took part, a meeting: every line competes with its words.
func (b *book) takeMeeting() {
	for _, t := range b.src.texts {
		if t.author == byUser {
			b.prosaic(t, secMeeting, plainVoice)
		}
	}
}
