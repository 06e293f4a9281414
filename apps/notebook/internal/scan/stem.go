package scan

import (
	"strings"
	"unicode"
)

// A bag is the set of content words of a sentence, stemmed.
type bag map[string]bool

// about returns the content words of s, without those of grammar and of orders. Scripts without spaces are
// split into pairs of characters.
func about(s string) bag {
	out := bag{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '\'' && r != '’' && r != '.' && r != '/' && r != '-'
	}) {
		w = strings.Trim(w, ".'’/-")
		switch {
		case w == "":
		case w[0] >= 0xe3 && w[0] < 0xee:
			pairs(out, w)
		case !empty[w]:
			add(out, stem(w))
		}
	}
	return out
}

func add(out bag, w string) {
	if f := same[w]; f != "" {
		w = f
	}
	if w != "" && !empty[w] && (len(w) > 1 || unicode.IsDigit(rune(w[0]))) {
		out[w] = true
	}
}

// pairs adds the pairs of neighbouring characters of w, without those of orders.
func pairs(out bag, w string) {
	for _, cue := range eastern {
		w = strings.ReplaceAll(w, cue, " ")
	}
	for _, part := range strings.Fields(w) {
		rs := []rune(part)
		for i := 0; i+1 < len(rs); i++ {
			out[string(rs[i:i+2])] = true
		}
	}
}

// eastern are words of orders in scripts without spaces.
var eastern = []string{"不要", "不能", "必须", "总是", "始终", "永远", "请", "以后", "禁止", "一定", "常に", "必ず", "しないで", "ないで", "ください", "今後", "使って", "使わ", "使用", "用"}

// stem removes the commonest endings of an English word.
func stem(w string) string {
	if strings.ContainsAny(w, "._/0123456789") {
		return w
	}
	for _, e := range [...]string{"ations", "ation", "ing", "ies", "ed", "es", "s", "e"} {
		if r, ok := strings.CutSuffix(w, e); ok && len(r) >= 3 && !strings.HasSuffix(w, "ss") {
			if n := len(r); e != "s" && n > 3 && r[n-1] == r[n-2] && r[n-1] != 's' && r[n-1] != 'l' { // committed, running
				r = r[:n-1]
			}
			return r
		}
	}
	return w
}

// same maps stems of synonyms in orders to an agent to one of them.
var same = map[string]string{
	"repli": "reply", "respond": "reply", "answer": "reply", "respons": "reply",
	"craft": "add", "creat": "add", "writ": "add", "mak": "add",
	"unittest": "test", "spec": "test", "tdd": "test",
	"kill": "remov", "delet": "remov", "drop": "remov",
	"utilis": "us", "utiliz": "us", "verwend": "us", "nutz": "us",
	"pull-request": "pr", "prs": "pr", "changelog.md": "changelog", "readm": "readme.md",
	"entir": "full", "whol": "full", "complet": "full", "backward": "backwards",
}

// overlap returns how many words a and b share.
func overlap(a, b bag) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// shared returns the words that a and b share.
func shared(a, b bag) bag {
	out := bag{}
	for w := range a {
		if b[w] {
			out[w] = true
		}
	}
	return out
}

// alike reports whether two sentences are about the same thing.
func alike(a, b bag) bool {
	n := overlap(a, b)
	small, large := min(len(a), len(b)), max(len(a), len(b))
	return n >= 2 && (n*10 >= small*8 && small*5 >= large*2 || n*2 >= small+large-n)
}

// empty are words without content in an order.
var empty = words(`a an the this that these those it its it's there here i i'd i'll i'm i've me my we we're we've us our you you're your he him his she her they them their who what which when where why how
and or but so if then than because while as of in on at to for from by with without into onto over under about also too just only even still yet again now later already soon first last next
is are was were be been being am do does did doing done don't dont doesn't didn't have has had having can can't cannot could couldn't may might must mustn't shall should shouldn't will won't would wouldn't not no nor nope nah never always
please ok okay yes yeah yep sure let's lets let make sure ensure want wants need needs like likes prefer rather instead actually really very much more most some any all each every everything both other such same thing things stuff bit little lot way
get got go goes going gone come take put see look know think thought say said says tell told mean meant use uses used using us hmm oh ah hey hi thanks thank sorry dude man my fucking shit fuck well right wrong good better best up down out off back
from future time whenever before after until between during remember avoid stop keep longer anymore
der die das den dem des ein eine einen einem und oder aber nicht kein keine keinen immer nie niemals bitte ist sind war wir ihr ich du es sie mit für auf von zu im in am statt stattdessen nur auch noch schon ab jetzt soll sollst muss musst
le la les un une des du de et ou mais ne pas jamais toujours est sont nous vous je tu il elle avec pour sur dans au aux s'il plaît plutôt doit dois faut
el los las una unos y o pero nunca siempre es son nosotros usted yo con para por en lugar vez favor debe debes`)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}
