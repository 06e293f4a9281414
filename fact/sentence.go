package fact

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// maxSentence is the longest line in bytes that is taken for a fact as a whole.
const maxSentence = 400

// Sentence returns what a line of prose is, and whether it is a fact as a whole: an instruction of the
// user that goes on, a decision, an open item. It looks for the words that people use for them, in
// English and Chinese; what it misses is still a line like any other.
func Sentence(author decant.Author, line string) (decant.FactKind, bool) {
	if len(line) < 8 || len(line) > maxSentence {
		return "", false
	}
	low := strings.ToLower(line)
	switch {
	case author == decant.AuthorUser:
		return decant.FactInstruction, hasAny(low, standing) || forbids(low, "don't ") || forbids(low, "do not ")
	case hasAny(low, open):
		return decant.FactOpen, true
	case hasAny(low, decided):
		return decant.FactDecision, true
	}
	return "", false
}

var (
	standing = []string{"always ", "never ", "must ", "make sure", "please use", "prefer ", "remember to", "remember that", "from now on", "avoid ", "only use", "no need to", "should not", "shouldn't", "every time", "不要", "必须", "总是", "始终", "请用", "记住", "务必", "一定要", "以后", "别再"}
	decided  = []string{"decided", "decision:", "i'll use", "we'll use", "let's use", "going with", "root cause", "the issue is", "the problem is", "the fix is", "the fix:", "agreed", "决定", "改用", "原因是", "问题是", "选择了"}
	open     = []string{"todo", "next step", "next:", "remaining", "not yet", "still need", "pending", "blocked", "open question", "follow-up", "待办", "下一步", "尚未", "还需要", "未完成"}
)

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

func hasAny(low string, cues []string) bool {
	for _, c := range cues {
		if strings.Contains(low, c) {
			return true
		}
	}
	return false
}
