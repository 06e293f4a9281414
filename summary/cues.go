package summary

import "strings"

// sectionOf returns the section that a line of a message belongs to.
func sectionOf(o origin, s string) section {
	switch {
	case o.author == byUser:
		return secUser
	case has(s, openCues):
		return secOpen
	case has(s, decisionCues):
		return secDecided
	}
	return secSaid
}

// Words that tell what a line is for. They are looked for in the lower-case line, so that a change of
// their number does not change what is kept, only where it stands and how it is preferred.
var (
	standingCues = []string{"always", "never", "don't", "do not", "must", "only ", "make sure", "please use", "prefer", "remember", "from now on", "keep ", "avoid", "instead of", "should", "不要", "必须", "总是", "始终", "请用", "记住", "务必", "一定", "别", "只"}
	decisionCues = []string{"decided", "decision", "instead of", "i'll use", "we'll use", "let's use", "going with", "root cause", "the issue is", "the problem is", "the fix", "chose", "agreed", "决定", "改用", "原因是", "问题是", "选择"}
	openCues     = []string{"todo", "to do", "next step", "next:", "remaining", "not yet", "still need", "pending", "blocked", "open question", "follow-up", "待办", "下一步", "尚未", "还需要", "未完成"}
)

func has(s string, cues []string) bool {
	low := strings.ToLower(s)
	for _, c := range cues {
		if strings.Contains(low, c) {
			return true
		}
	}
	return false
}
