package fact

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// maxSentence is the longest line in bytes that is taken for a fact as a whole.
const maxSentence = 400

// Sentence returns what a line of prose is, and whether it is a fact as a whole: an instruction of the user
// that stays in force, a decision, an open item. It looks for the words that people use for them. What it
// misses is still a line like any other.
//
// Instructions are [Standing] orders. Decisions and open items are found strictly, because a wrong one misleads: the line
// must say what was decided or what is left.
func Sentence(author decant.Author, line string) (decant.FactKind, bool) {
	if len(line) < 6 || len(line) > maxSentence {
		return "", false
	}
	low := strings.ToLower(line)
	switch {
	case author == decant.AuthorUser:
		return decant.FactInstruction, len(Standings(line)) > 0
	case openItem(low):
		return decant.FactOpen, true
	case decision(low):
		return decant.FactDecision, true
	}
	return "", false
}

// Rule reports whether a line of instructions is one that stays in force, or corrects one. It is generous, because one that
// is missed may be broken, and right only where most lines are rules: what a person says goes through [Standing].
func Rule(line string) bool {
	low := strings.ToLower(line)
	return mayRule(low) && (slices.ContainsFunc(rulePhrases, func(w string) bool { return hasPhrase(low, w) }) ||
		slices.ContainsFunc(ruleParts, func(w string) bool { return strings.Contains(low, w) }) ||
		slices.ContainsFunc(dont, func(w string) bool { return forbids(low, w) })) ||
		slices.ContainsFunc(clauses(low), prescribes)
}

// dont are words of orders not to do something, see [forbids].
var dont = []string{"don't", "dont", "do not", "don’t"}

// mayRule reports, in one pass, whether a line in small letters has any of the phrases that make it a rule.
var mayRule = lazyregexp.MayMatch(anyOf(rulePhrases), anyOf(ruleParts), anyOf(dont))

func anyOf(phrases []string) *lazyregexp.Regexp {
	quoted := make([]string, len(phrases))
	for i, p := range phrases {
		quoted[i] = regexp.QuoteMeta(p)
	}
	return lazyregexp.New(strings.Join(quoted, "|"))
}

// habits are verbs of orders that stay in force, where other verbs ask for one thing to be done.
var habits = setOf("use keep leave stay stick skip format prefix suffix cap limit wrap indent quote escape spell sign name cite mock pin reuse prefer avoid log " +
	"nutze nutzt verwende benutze halte lass utilise utilisez garde évite usa usad utiliza deja mantén")

// sweeping are words that begin a sentence about all cases or none.
// They are a rule with a verb that says how it is done.
var sweeping = setOf("every each everything everyone everybody nothing nobody nowhere only all jede jeder jedes alle nichts niemand keine kein keinen chaque tous toutes rien cada todo todos todas nada")

// replies are what follows "no" where nothing is forbidden: an answer, or what a tool did not find.
var replies = setOf("problem problems idea worries need needs thanks such errors error matches match results result output changes files file longer doubt one way luck rush hurry plans pain clue matter offense regrets kidding")

// norms are verbs that say how a thing is done always.
var norms = []string{
	" need", " go ", " goes ", " get ", " gets ", " may ", " stay", " use ", " uses ", " start", " end ",
	" ends ", " belong", " generated", " in english", " auf ", " en ", " has to ", " have to ", " per ",
}

// prescribes reports whether a sentence, in small letters, is put as rules are: it begins with the verb of a
// habit, or with a word about all cases or none, or says what comes first.
func prescribes(low string) bool {
	s := strings.TrimLeft(low, " \t-*•>–0123456789.)(#\"“`_")
	for _, polite := range [...]string{"please ", "and ", "also ", "also, ", "but ", "then ", "bitte "} {
		s = strings.TrimPrefix(s, polite)
	}
	word, rest, _ := strings.Cut(s, " ")
	next, more, _ := strings.Cut(rest, " ")
	switch {
	case strings.Contains(low, ", not ") || strings.Contains(low, " and not ") || strings.HasSuffix(strings.TrimRight(s, ".!) "), " first"):
		return true
	case next == "":
		return false
	case word == "no":
		return !replies[strings.Trim(next, ".,;:!?")]
	case habits[word]:
		return next != "of" && next != "case" && next != "cases" && !strings.HasPrefix(next, "=")
	}
	return (word == "max" || word == "min") && more != "" || sweeping[word] && slices.ContainsFunc(norms, func(n string) bool { return strings.Contains(low, n) })
}

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// Order reports whether a line is a [Rule] that is addressed to whoever reads it: a sentence of it is one, and
// tells nothing about the speaker or others.
func Order(line string) bool {
	for s := range sentences(line) {
		if Rule(s) && !tells(s) && !social(s) {
			return true
		}
	}
	return false
}

// sentences yields the sentences of a line of prose, without the blanks around them.
func sentences(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.ContainsAny(line, ".!?。！？") {
			line = sentenceEnds.Replace(line)
		}
		for s := range strings.Lines(line) {
			if !yield(strings.TrimSpace(s)) {
				return
			}
		}
	}
}

// sentenceEnds puts each sentence of a line of prose on a line of its own.
var sentenceEnds = strings.NewReplacer(". ", ".\n", "! ", "!\n", "? ", "?\n", "。", "。\n", "！", "！\n", "？", "？\n")

// idle are phrases of rules that friends use as well, when they give each other leave or correct themselves.
var idle = []string{"if you", "when you", "feel free", "actually", "instead", "in the future", "in future", "up to", "at least", "anymore", "any more", "no longer", "i want", "i expect", "i said", "i mean", "i meant"}

// social reports whether nothing but such a phrase makes a sentence a rule.
func social(s string) bool {
	low := subject(s)
	if begins(low, wishes) && !strings.HasPrefix(low, "i want to ") {
		return false
	}
	for _, p := range idle {
		low = strings.ReplaceAll(low, p, " ")
	}
	for _, p := range [...]string{"always", "never"} { // "novels always inspire me" orders nothing
		if i := strings.Index(low, p); i > 0 && !ordering(low[:i]) {
			low = low[:i] + low[i+len(p):]
		}
	}
	return !Rule(low)
}

// ordering reports whether an order can follow the text before it: the end of a clause, or a word that gives
// one.
func ordering(before string) bool {
	before = strings.TrimRight(before, " ")
	if before == "" || strings.ContainsAny(before[len(before)-1:], ",;:-(\"") {
		return true
	}
	words := strings.Fields(before)
	return slices.Contains([]string{"please", "and", "but", "or", "should", "must", "you", "to", "then", "so"}, words[len(words)-1])
}

// openers are words that a sentence may begin with before it comes to its subject.
var openers = []string{"actually", "well", "yes", "no", "ok", "okay", "oh", "hmm", "wow", "and", "but", "so", "also", "recently", "sometimes", "besides", "then", "yeah", "sure", "hi", "hello",
	"嗯", "哇", "对呀", "对啊", "是的", "好的", "但是", "不过", "而且", "其实", "最近", "那", "哦", "啊"}

// speakers are what sentences begin with that tell about somebody or thank, and wishes are how such a sentence
// asks for something all the same.
var (
	speakers = []string{"i", "i'm", "i've", "i'd", "i'll", "my", "he", "she", "it", "it's", "they", "that", "that's", "this", "these", "those", "there", "you're", "you", "what", "how", "why", "do you", "thank", "thanks", "chatting", "feel free", "no problem",
		"我", "他", "她", "它", "这", "谢谢", "感谢", "不用谢", "不客气", "你也", "怎么", "什么", "有没有"}
	wishes = []string{"i want", "i expect", "i need you", "i'd like you", "i would like you", "i prefer", "i said", "i meant", "i mean", "you must", "you should", "you may", "you can not", "you cannot", "this must", "that must", "it must", "these must", "they must",
		"我要", "我希望", "我需要你", "我想让"}
)

// subject returns a sentence in small letters from its subject on.
func subject(s string) string {
	low := strings.ToLower(strings.TrimLeft(s, " ,;:，；：-*\"'"))
	for !begins(low, speakers) {
		rest := ""
		for _, o := range openers {
			if begins(low, []string{o}) {
				rest = strings.TrimLeft(strings.TrimPrefix(low[len(o):], "，"), " ,")
				break
			}
		}
		if rest == "" {
			break
		}
		low = rest
	}
	return low
}

// tells reports whether a sentence tells about somebody rather than asks for something.
func tells(s string) bool {
	low := subject(s)
	return (begins(low, speakers) || strings.Contains(withoutMe.Replace(low), "我")) && !begins(low, wishes)
}

// withoutMe takes out the ways in which a Chinese sentence that asks for something names who asks.
var withoutMe = strings.NewReplacer("问我", "", "告诉我", "", "叫我", "", "给我", "", "跟我", "", "对我", "", "我的", "", "经我", "", "等我", "", "联系我", "")

// begins reports whether s begins with one of some phrases, as words of their own.
func begins(s string, phrases []string) bool {
	for _, p := range phrases {
		if rest, ok := strings.CutPrefix(s, p); ok && (p[0] >= 0x80 || rest == "" || class[rest[0]]&wordByte == 0 && rest[0] != '\'') {
			return true
		}
	}
	return false
}

// rulePhrases make a line an instruction wherever they occur as whole words.
var rulePhrases = []string{
	// what has to be, and what may not
	"must", "mustn't", "always", "never", "shall", "only use", "use only", "make sure", "ensure", "be sure to", "be careful", "see to it",
	"should not", "shouldn't", "should never", "should always", "should be", "should only", "may not", "can not be", "cannot be", "not allowed", "is allowed", "are allowed",
	"forbidden", "prohibited", "mandatory", "required", "off limits", "off-limits", "hands off", "no matter what", "whatever happens",
	"under no circumstances", "in no case", "on no account", "at all times", "by no means", "without exception", "refrain", "avoid", "stay away", "steer clear", "keep away",
	"leave alone", "untouched", "unchanged", "as it is", "as is", "as they are", "intact", "read-only", "stick to", "stick with", "adhere", "comply", "follow the", "follow our", "obey",
	// from when on, and when
	"from now on", "from here on", "going forward", "henceforth", "in future", "in the future", "for the rest", "until i", "until we", "unless i", "unless we", "unless you",
	"whenever", "every time", "each time", "every commit", "each commit", "before you", "after you", "before each", "before every", "after each", "after every", "before committing", "before pushing",
	"before any", "once you", "if you", "when you",
	// how things are done here
	"not spaces", "not tabs", "tests first", "test first", "goes into", "go into", "go next to", "goes next to", "belongs in", "belong in", "starts with", "ends with", "go under",
	"are in english", "are in german", "are in french", "are in chinese", "snake_case", "camelcase", "kebab-case", "pascalcase", "backwards compatible", "backward compatible", "is generated", "are generated",
	"let's use", "lets use", "let us use", "stay out", "hands off", "deploy only", "only on", "only in", "only after", "only when", "only if", "only with", "may approve", "can skip", "may skip", "without review", "per line", "line length",
	// with whose leave
	"ask me", "ask first", "ask before", "check with me", "wait for my", "wait for me", "my approval", "my permission", "my okay", "my ok", "without asking", "without my", "confirm with",
	// what is preferred
	"prefer", "please use", "rather than", "instead of", "in favor of", "in favour of", "we use", "we only", "we don't use", "we do not use", "i want", "i expect", "stop using", "stop doing",
	"convention", "our rule", "the rule", "rule:", "rules:", "policy", "guideline", "style guide", "standard is", "requirement", "constraint", "limit", "restrict", "exclude", "treat", "default to", "assume",
	"no more", "no longer", "not anymore", "any more", "anymore", "nothing but", "none of", "at most", "at least", "no more than", "no less than", "maximum", "minimum", "cap at", "up to",
	"remember to", "remember that", "remember:", "keep in mind", "bear in mind", "don't forget", "do not forget", "important:", "nb:",
	"answer in", "reply in", "respond in", "write in", "call me", "no need to", "feel free", "keep it", "keep the", "keep all", "keep your",
	// corrections
	"actually", "correction", "scratch that", "i meant", "i mean", "i said", "not what i", "change of plan", "forget what", "ignore what", "on second thought", "let's not", "let us not", "changed my mind", "instead",
	// German, French, Spanish
	"immer", "nie", "niemals", "nicht", "kein", "keine", "keinen", "keinem", "keiner", "auf deutsch", "auf englisch", "bitte nur", "muss", "müssen", "darf", "dürfen", "ab jetzt", "ab sofort", "statt", "nur", "sondern",
	"toujours", "jamais", "ne touche", "ne touchez", "ne modifie", "ne modifiez", "dois", "doit", "il faut", "ne pas", "n'utilise", "désormais", "au lieu", "uniquement", "seulement",
	"siempre", "nunca", "debe", "debes", "no uses", "no hagas", "a partir de ahora", "en lugar de", "solo", "solamente", "evita",
}

// ruleParts are the same in scripts without blanks between words.
var ruleParts = []string{
	"不要", "必须", "必需", "总是", "始终", "请用", "请使用", "记住", "务必", "一定要", "以后", "别再", "别用", "禁止", "不准", "不得", "不能", "不许", "不可", "只能", "只用", "只要", "切勿", "永远", "每次", "从现在起", "今后",
	"一律", "都用", "都要", "都不", "千万", "从今", "今后", "先跑", "提交前", "之前先", "前请", "前先", "用中文", "用英文", "不许动", "别动", "优先", "避免", "改成", "改为", "改用", "不用", "应该", "应当", "要求", "规则", "需要先", "先问", "默认",
	"常に", "必ず", "ないこと", "すること", "決して", "しないで", "しては", "今後", "使わない", "だけ", "べき", "ください", "항상", "절대", "하지 마", "반드시",
}

// Decisions: who decided, or that it is decided, and for what.
var decided = []string{
	"i decided to ", "we decided to ", "i've decided to ", "we've decided to ", "decided against ", "decision: ", "i chose ", "we chose ", "chose to ", "i opted ", "opted for ", "opted to ", "i went with ", "went with ",
	"settled on ", "agreed to ", "agreed on ", "we agreed ", "the decision is to ", "decision was to ",
	"决定", "选择了", "最终采用", "改用",
}

// decision reports whether a line, in small letters, says what was decided. A question and a plan for
// the next minute are none.
func decision(low string) bool {
	if strings.HasSuffix(low, "?") || strings.HasSuffix(low, "？") || strings.HasSuffix(low, ":") {
		return false
	}
	for _, d := range decided {
		if i := strings.Index(low, d); i >= 0 && startsWord(low, i) && hasObject(low[i+len(d):]) {
			return !reported(low[:i])
		}
	}
	return false
}

// reported reports whether the text before a cue makes it a condition, a doubt or a quotation.
func reported(before string) bool {
	for _, w := range [...]string{"if ", "whether ", "not ", "n't ", "haven't", "until ", "who ", "how ", "why ", "user ", "could have ", "would have ", "unless "} {
		if strings.Contains(before, w) {
			return true
		}
	}
	return false
}

// open are the ways to say that something is left to do, before what it is.
var open = []string{
	"todo: ", "to do: ", "- [ ] ", "[ ] ", "still need to ", "still needs to ", "still needs ", "still to do: ", "still missing: ", "remaining: ", "remaining work: ", "not yet implemented: ", "not implemented yet: ",
	"left to do: ", "open question: ", "open issue: ", "known issue: ", "known limitation: ", "follow-up: ", "followup: ", "blocked on ", "blocked by ", "blocker: ", "deferred: ", "out of scope for now: ",
	"待办：", "待办:", "还需要", "尚未", "未完成",
}

// openItem reports whether a line, in small letters, says what is left to do. What the speaker goes on to do
// at once ("now I still need to ...") does not count.
func openItem(low string) bool {
	if strings.HasSuffix(low, ":") || strings.HasSuffix(low, "?") || strings.HasPrefix(low, "now ") || strings.HasPrefix(low, "let me") || strings.HasPrefix(low, "i'll ") || strings.HasPrefix(low, "good") {
		return false
	}
	for _, o := range open {
		if i := strings.Index(low, o); i >= 0 && startsWord(low, i) && hasObject(low[i+len(o):]) {
			return !reported(low[:i]) && !strings.Contains(low, "let me")
		}
	}
	return false
}

// hasObject reports whether s, what follows a cue, says what the line is about: two words or more, or six
// characters of a script without blanks.
func hasObject(s string) bool {
	return len(strings.Fields(s)) >= 2 || len(s) >= 18 && s[0] >= 0xe0
}

// startsWord reports whether a word begins at low[i].
func startsWord(low string, i int) bool {
	return i == 0 || class[low[i-1]]&letter == 0 || class[low[i]]&letter == 0
}

// hasPhrase reports whether low, in small letters, has w as words of its own.
func hasPhrase(low, w string) bool { return phrase(low, w) >= 0 }

// phrase returns where hasPhrase finds w to end for the first time, or -1.
func phrase(low, w string) int {
	for at := 0; ; {
		i := strings.Index(low[at:], w)
		if i < 0 {
			return -1
		}
		i += at
		at = i + len(w)
		if startsWord(low, i) && (at == len(low) || class[low[at]]&letter == 0 || w[len(w)-1] == ':' || endsAs(low[at:])) {
			return at
		}
	}
}

// endsAs reports whether a word continues as a form of the same word: "prefers", "avoided", "limits".
func endsAs(rest string) bool {
	for _, end := range [...]string{"s", "ed", "d", "ing", "red", "ting", "able"} {
		if r, ok := strings.CutPrefix(rest, end); ok && (r == "" || class[r[0]]&letter == 0) {
			return true
		}
	}
	return false
}

// tellers are the words before "don't" that make it a report and no order: "I don't remember".
var tellers = []string{"i", "we", "they", "you", "he", "she", "it", "that", "which", "who", "people", "users", "tests", "these", "those", "ones"}

// forbids reports whether low, a line in small letters, has the word not and it is an order.
func forbids(low, not string) bool {
	i := strings.Index(low, not)
	if i < 0 || i > 0 && class[low[i-1]]&letter != 0 {
		return false
	}
	before := strings.FieldsFunc(low[:i], func(r rune) bool { return r >= 0x80 || class[byte(r)]&letter == 0 })
	return len(before) == 0 || !slices.Contains(tellers, before[len(before)-1]) || strings.ContainsAny(low[max(0, i-2):i], ".,;:-!?(")
}
