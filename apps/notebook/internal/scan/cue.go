package scan

import (
	"strings"

	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// Cues in a sentence in lower case.
var (
	// standing are words of lasting orders.
	standing = lazyregexp.New(`\b(always|never|from now on|from here on|going forward|in (the )?future|every ?time|each time|whenever|by default|must not|mustn't|must|(do not|don'?t|don’t) (ever )?[a-z]+|remember (to|that)|keep in mind|prefer|avoid|no need (to|for)|no longer|stop [a-z]+ing|instead of|rather than|not allowed|make sure|no more|we (only|don'?t|do not|always|never) (use|need|want)|before (you |each |every |any )?(commit|push|merg|releas|deploy)\w*|overriding directive|` +
		`immer|nie|niemals|ab jetzt|ab sofort|künftig|in zukunft|nicht mehr|bitte (kein|nicht|nur|immer)\w*|statt|keine?n?|toujours|jamais|désormais|ne [a-zé]+ (pas|plus|jamais)|n'[a-zé]+ (pas|plus|jamais)|au lieu|plutôt que|siempre|nunca|a partir de ahora|en (lugar|vez) de|no (uses|hagas|escribas|toques|pongas))(?:$|[^\pL])|` +
		`不要|必须|必需|总是|始终|永远|以后|别再|别用|禁止|每次|从现在起|一律|务必|一定要|改用|常に|必ず|しないで|ないで|今後|決して|항상|절대|반드시`)
	// correcting begins a message that corrects what the model did.
	correcting = lazyregexp.New(`^(no|nope|nah|non|nein|não|wrong|stop|actually|not|don'?t|don’t|do not|sorry, my point|i (said|meant|mean|told you)|that'?s (wrong|not)|omfg|undo|revert|please don'?t|can we not|could we not|rather|instead|falsch|pas|faux|mal|错|不对|不是|不要|别|違う|いや|아니)(?:$|[^\pL])|^(不|别|違)`)
	// settled begins a "no" that corrects nothing.
	settled = lazyregexp.New(`^no(,? (problem|worries|idea|need|thanks|rush|hurry)\b|t (sure|yet|really|now)\b|pe?[.!]?$)`)
	// pointing are words for something that was said before.
	pointing = lazyregexp.New(`\b(it|it's|this|that|that's|these|those|them|they)\b`)
	// lasting are words that make an order last even if it points at something.
	lasting = lazyregexp.New(`\b(always|never|from now on|from here on|going forward|in (the )?future|every ?time|each time|whenever|by default|before (you |each |every |any )?(commit|push|merg|releas|deploy)\w*|immer|nie|niemals|ab jetzt|ab sofort|künftig|toujours|jamais|désormais|siempre|nunca)(?:$|[^\pL])|总是|始终|永远|以后|每次|常に|必ず|今後|항상|절대`)
	// momentary are words of orders for the moment.
	momentary = lazyregexp.New(`\b(let me know|let'?s see|for now|for the moment|right now|this time|just this once|the (latest|last|newest|current) \w+)\b`)
	// conjunction is a "that" which points at nothing.
	conjunction = lazyregexp.New(`\b(sure|remember|mind|ensure|note|so|means?) that\b`)
	// asked begins a question that orders nothing.
	asked = lazyregexp.New(`^(and |but |so |oh,? |hm+,? |ok(ay)?,? |also,? |or |wait,? |question: )*(what|why|who|whose|which|where|when|how|did|does|do (we|you|i|they)|is|are|was|were|has|have|hasn't|isn't|aren't|shouldn't|wouldn't|couldn't|would|will|should (we|i|it|this|that|they))\b`)
	// wondering begins a question that orders nothing, even if a polite order seems to follow.
	wondering = lazyregexp.New(`^(and |but |so |ok(ay)?,? |also,? |hm+,? )*(why (can|could|would|should|is|are|do|did|does|was)|what|which|who|where|when|how (can|could|do|does|did|is|are|would|much|many|difficult|hard|long))\b`)
	// polite begins a question that is an order.
	polite = lazyregexp.New(`\b((can|could|would|will|may) (we|you|i|u)|should you|can't we|how about|why don't (we|you)|kannst du|könntest du|peux-tu|pourrais-tu|puedes|podrías)\b`)
	// telling begins a sentence that reports or wonders.
	telling = lazyregexp.New(`^(and |but |so |oh,? |hm+,? |ok(ay)?,? |also,? |well,? |yeah,? |ah,? |like )*(consider|few more|more|i (wonder|wondered|suspect|think|thought|guess|figure|suppose|see|saw|believe|believed|just|did|don'?t (know|see|think|understand|remember|care)|do not|can|could|was|am|had|have|put|note|only|reset|messed|concede|manually|removed|started|mean|edit)|i'm|i've|i'll|we (did|made|added|had|are|were|still|also|have|just|removed|see)|you (wrote|said|did)|it|it's|its|they|they're|there|there's|theres|that|that's|thats|im|ive|maybe|perhaps|possibly|those|these|this|he|she|his|when i|so now|looking|one|the (test|tests|issue|problem|error|inline|current|attribution|message|logs?|new)|for auto|given|since|someone|users?|a user|in theory|got|learning|thinking|now the question|if (we|i|the|it|you)|"?in [a-z]+, the)\b`)
	// narrating is a report of what somebody did or did not do.
	narrating = lazyregexp.New(`^[^,.:;]*\b(i|we|you|they) (did|didn'?t|had|hadn'?t|was|were|wasn'?t|weren'?t|have not|haven'?t)\b`)
	// negative are words that forbid or take away.
	negative = lazyregexp.New(`\b(` + nots + `|without|ignore|skip|remove|undo|revert)(?:$|[^\pL])|` + easternNots)
)

// heard reports whether a sentence could be an order.
func heard(s string) bool {
	low := strings.ToLower(s)
	return standing.MatchString(low) || correcting.MatchString(low) || directs(s)
}

// orders reports whether a sentence is a lasting order.
func orders(s string) bool {
	low := strings.ToLower(s)
	return standing.MatchString(low) && fact.Order(s) && !question(low) && !telling.MatchString(low)
}

// corrects reports whether the first sentence of a message corrects what the model did, in words that make
// sense out of context.
func corrects(s string) bool {
	low := strings.ToLower(strings.TrimSpace(s))
	cue := correcting.FindString(low)
	if cue == "" || settled.MatchString(low) || strings.HasSuffix(low, "no?") {
		return false
	}
	return !pointing.MatchString(low) && !telling.MatchString(strings.TrimLeft(low[len(cue):], " ,.:"))
}

// passes reports whether an order is only for the moment.
func passes(s string) bool {
	low := strings.ToLower(s)
	if lasting.MatchString(low) {
		return false
	}
	return momentary.MatchString(low) || pointing.MatchString(conjunction.ReplaceAllString(low, "sure"))
}

// question reports whether a sentence asks something and orders nothing.
func question(low string) bool {
	if wondering.MatchString(low) {
		return true
	}
	if polite.MatchString(low) && !strings.Contains(low, " or do we ") {
		return false
	}
	return asked.MatchString(low) || strings.HasSuffix(low, "?") || strings.HasSuffix(low, "？")
}

// directs reports whether a sentence asks to do or to leave something.
func directs(s string) bool {
	low := strings.ToLower(strings.TrimSpace(s))
	return !question(low) && !telling.MatchString(low) && !narrating.MatchString(low)
}

// negates reports whether a sentence forbids or takes away.
func negates(s string) bool { return negative.MatchString(strings.ToLower(s)) }
