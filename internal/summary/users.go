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
	"github.com/decantdev/decant/internal/lazyregexp"
)

// nodWords is how many words a yes or no may have: "yes, go ahead and do it please".
const nodWords = 6

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
	rules []string // its sentences that stay in force
	alone bool     // it says little else
	pure  bool     // it says nothing else
	cost  float64
	short bool
	over  bool // it belongs to a finished job, of which the record says what came of it
}

// A userWords is what the user said, as it is taken into a book.
type userWords struct {
	book   *book
	texts  []utterance
	crowds bool // see crowded
}

// takeUsers takes in what the user said: whole as it was typed, with the oldest shortened where there is too
// much of it, and the rules in it.
func (b *book) takeUsers() {
	if !b.src.model {
		b.takeMeeting()
		return
	}
	w := userWords{book: b, texts: b.utterances()}
	rest := mustUser
	if w.crowds = w.crowded(); w.crowds {
		rest = compete
	}
	hand := w.inHand()
	w.shorten(hand)
	w.leave(hand)
	for i := range w.texts {
		u := &w.texts[i]
		when := rest
		switch {
		case i == 0 || i >= hand:
			when = mustGoal
		case u.over:
			when = compete
		case w.crowds && !u.short && slices.ContainsFunc(u.lines, fact.Order): // it is kept whole, with what is said around it
			when = mustRule
		case len(u.rules) > 0 && !u.short && !w.crowds: // where its rules alone are said
			when = mustRule
		}
		sec := secUser
		if u.alone = u.alone && (i > 0 || u.pure) && i != hand && !u.short; u.alone {
			sec = secRules // where it is said once
			if when != mustGoal {
				when = mustRule
			}
		}
		w.utter(u, when, sec)
	}
	w.rules()
	if !w.crowds { // where the request in hand was said last
		w.goal(hand)
	}
}

// goalChars is how much of the request in hand its section says. The whole is above.
const goalChars = 300

// goal says the request in hand, in its words.
func (w *userWords) goal(hand int) {
	if hand == len(w.texts) || w.texts[hand].nod() {
		w.book.takeRetoldGoal()
		return
	}
	u := &w.texts[hand]
	if u.number == 0 {
		return
	}
	words := strings.Join(strings.Fields(u.body), " ")
	if len(words) > goalChars {
		words = words[:wordBefore(words, goalChars)] + " …"
	}
	w.book.add(entry{
		sec: secGoal, group: -1, line: -1, must: mustGoal,
		text: w.book.say("The request in hand is ", "当前的请求是 ") + u.name() + w.book.say(": ", "：") + words,
	})
}

// name is the short name of the text's message.
func (t *text) name() string { return strings.TrimSpace(cite(t.number)) }

// crowded reports whether people talked, and the user said so much that most of it has to go. Then what says
// more stays, whoever said it, and of texts with rules often only these.
func (w *userWords) crowded() bool {
	total := 0.
	for i := range w.texts {
		total += w.texts[i].cost
	}
	return w.book.talk && total > userShare*w.book.budget
}

// inHand returns the index of the request in hand: the newest text that is more than a yes or no, a rule, or a question
// aside that was answered without work. Where there is nothing but these it is the newest of them that is no yes or no;
// the number of texts where that is a rule.
func (w *userWords) inHand() int {
	newest := len(w.texts) - 1
	for newest > 0 && (w.texts[newest].nod() || w.texts[newest].standing) {
		newest--
	}
	until := w.book.src.messages
	for i := newest; i >= 0; i-- {
		if u := &w.texts[i]; !u.nod() && !u.standing && !u.pure && !w.aside(i, until) {
			return i
		}
		until = w.texts[i].index
	}
	if newest < 0 || w.texts[newest].pure { // what is asked for stands elsewhere
		return len(w.texts)
	}
	return newest
}

// asideCalls is how many calls the answer to a question aside may take.
const asideCalls = 3

// aside reports whether a text is nothing but a question, which took few calls before message index until.
func (w *userWords) aside(i, until int) bool {
	u := &w.texts[i]
	if w.book.talk || len(u.lines) > 2 || !strings.HasSuffix(u.body, "?") && !strings.HasSuffix(u.body, "？") || requests.MatchString(u.body) {
		return false
	}
	calls := 0
	for _, a := range w.book.src.acts {
		if a.index > u.index && a.index < until {
			calls++
		}
	}
	return calls <= asideCalls
}

// requests are words by which a question asks for something to be done.
var requests = lazyregexp.New(`(?i)\b(?:(?:can|could|would|will|shall|should) (?:you|we|i)|please|let's|how about|why not|kannst du|können (?:wir|sie)|könnte?st|bitte|peux-tu|pouvez|pourrais|puedes|podrías|pode(?:ria)?|por favor)\b|请|能不能|能否|帮|ください|もらえ|くれ`)

// retoldGoals are headings of a client's summary under which the request in hand stands, the best first.
var retoldGoals = [...]string{"current work", "next step", "current task", "primary request", "goal", "objective", "当前", "目标"}

// takeRetoldGoal takes the request in hand from the client's earlier summary, where the user has not put it since.
func (b *book) takeRetoldGoal() {
	for _, t := range slices.Backward(b.src.texts) {
		if t.author != byEarlier {
			continue
		}
		for _, want := range retoldGoals {
			under := false
			for s := range pieces(t.body) {
				label, rest, _ := strings.Cut(s, ":")
				is := len(strings.Fields(label)) <= mostLabel && strings.Contains(strings.ToLower(label), want)
				if rest = strings.TrimLeft(rest, "* "); is && rest != "" {
					s = rest
				} else if is {
					under = true
					continue
				} else if !under {
					continue
				}
				b.add(entry{sec: secGoal, group: -1, number: t.number, line: -1, must: mustGoal,
					text: b.say("by the client's summary: ", "据客户端摘要：") + strings.TrimLeft(s, "-*• ")})
				return
			}
		}
		return
	}
}

// utterances returns the texts of the user.
func (b *book) utterances() (us []utterance) {
	for _, t := range b.src.texts {
		if t.author != byUser && t.author != byAnswer {
			continue
		}
		u := utterance{text: t, cost: estimate(t.body) + 4}
		u.lines = lines(t.body)
		u.findRules()
		for _, ln := range u.lines {
			b.lex.see(b.lex.line(strings.TrimSpace(ln), true), t.index, decant.AuthorUser)
		}
		us = append(us, u)
	}
	return us
}

// rulePart is the part of a text that its rules make up where it stands among the rules as a whole.
const rulePart = 3

// approvedPlan is how Claude Code begins a request that is a plan of the model's, which the user approved.
const approvedPlan = "Implement the following plan:"

// findRules finds the standing orders in a text that a person typed. Of a long one only what comes before a heading or
// code counts, where it reads as prose: what follows was pasted.
func (u *utterance) findRules() {
	if u.author == byAnswer || strings.HasPrefix(u.body, approvedPlan) {
		return
	}
	prose, said := u.typed(), 0
	for _, ln := range u.lines {
		if !prose && (strings.HasPrefix(ln, "#") || strings.HasPrefix(ln, "```") || strings.HasPrefix(ln, "    ")) {
			break
		}
		found := fact.Standings(ln)
		if !prose {
			found = slices.DeleteFunc(found, func(s string) bool { return !readsAsProse(s) })
		}
		for _, s := range found {
			said += len(s)
		}
		u.rules = append(u.rules, found...)
	}
	u.alone, u.pure = prose && rulePart*said >= len(u.body), 10*said >= 9*len(u.body)
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
	"keep up resume next carry on lgtm approved sounds yup yep sgtm do that both let's lets " +
	"mach los fortfahren fahre fort genau passt jawohl klar bitte einverstanden d'accord vas y vas-y poursuis ok claro adelante vale perfecto perfeito prossiga pode seguir " +
	"了解 了解です 続けて 続けてください 続き 続きを 请继续 继续吧 接着 接着做 没问题 同意 ja nein weiter gut danke oui non continue merci sí si no sigue gracias sim はい いいえ 続けて お願いします 好 好的 是 是的 不 对 行 可以 嗯 继续 谢谢")

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
func (w *userWords) shorten(hand int) {
	total := 0.
	for i := range w.texts {
		u := &w.texts[i]
		if u.short = !u.typed() && !((i == 0 || i >= hand) && u.cost <= taskShare*w.book.budget); u.short {
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
func (w *userWords) leave(hand int) {
	room := overShare * w.book.budget
	for i := hand - 1; i > 0; i-- {
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

// utter adds the entry of a text of the user to a section; answers have their own.
func (w *userWords) utter(u *utterance, when must, sec section) {
	body := u.body
	if u.short {
		body = ends(u.lines, u.handle)
		w.rest(u)
	}
	e := entry{sec: sec, group: -1, number: u.number, text: body, line: -1, must: when}
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
		for _, r := range u.rules {
			cost := estimate(r) + 4
			key := strings.ToLower(strings.TrimRight(r, ".!。！"))
			if above := !u.short || !u.over && strings.Contains(ends(u.lines, u.handle), r); seen[key] || above && cost > room {
				continue
			} else if above {
				room -= cost
			}
			if seen[key] = true; u.alone {
				continue
			}
			w.book.add(entry{sec: secRules, group: -1, number: u.number, text: r, line: -1, must: mustRule})
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
