package summary

import (
	"iter"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// marked yields the lines of a text that can be quoted, each with what the text says it is: an open item, a
// decision, or empty. A line is one by its own words, by the label that it begins with ("Still needed: ..."),
// or because of the heading above its list ("Pending tasks").
func marked(body string) iter.Seq2[string, decant.FactKind] {
	return func(yield func(string, decant.FactKind) bool) {
		under := decant.FactKind("")
		for s := range pieces(body) {
			kind := decant.FactKind("")
			switch h, ok := headed(s); {
			case ok:
				under = h
			case !isItem(s):
				under = ""
				kind = own(s)
			case under != "" && !settled(s):
				kind = under
			default:
				kind = own(s)
			}
			if !yield(s, kind) {
				return
			}
		}
	}
}

// own returns what a line says by itself that it is.
func own(s string) decant.FactKind {
	if label, rest, ok := strings.Cut(s, ":"); ok && len(strings.Fields(rest)) >= 2 && !strings.Contains(label, "`") && !settled(s) {
		if k := labelled(label); k != "" {
			return k
		}
	}
	kind, _ := fact.Sentence(decant.AuthorModel, s)
	return kind
}

// headed reports whether a line is a heading, and returns of what sort the list under it is.
func headed(s string) (decant.FactKind, bool) {
	marks := strings.HasPrefix(s, "#") || strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, ":**") || strings.HasSuffix(s, "：")
	if !marks || isItem(s) && !numbered(s) {
		return "", false
	}
	return labelled(s), true
}

// mostLabel is the most words of a label or a heading that says what follows it.
const mostLabel = 6

// Words in a label or a heading by which what follows is an open item or a decision, and words that make it
// something else.
var (
	openLabels    = []string{"pending", "remaining", "next steps", "todo", "to do", "still need", "still missing", "still open", "not yet done", "not done", "not yet implemented", "outstanding", "open question", "open item", "open issue", "unresolved", "what's left", "what is left", "left to do", "follow-ups", "followups", "blockers", "待办", "未完成", "剩余", "下一步"}
	decidedLabels = []string{"decision", "decided", "agreed", "决定", "决策"}
	otherLabels   = []string{"no pending", "no remaining", "no open", "no outstanding", "none", "completed", "resolved issues", "optional"}
)

// labelled returns what a label or a heading says of what follows it.
func labelled(label string) decant.FactKind {
	low := strings.ToLower(strings.Trim(label, "#*-0123456789.:： "))
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	switch {
	case len(strings.Fields(low)) > mostLabel || has(otherLabels):
		return ""
	case has(openLabels):
		return decant.FactOpen
	case has(decidedLabels):
		return decant.FactDecision
	}
	return ""
}

// settled reports whether an item of a list is marked as done, or is a "none".
func settled(s string) bool {
	low := strings.ToLower(s)
	for _, w := range [...]string{"✅", "✓", "[x]", "completed", "resolved", "(done", "done)", "no pending", "no remaining", "none", "nothing", "n/a", "已完成"} {
		if strings.Contains(low, w) && !strings.Contains(low, "un"+w) && !strings.Contains(low, "not "+w) {
			return true
		}
	}
	return false
}

// isItem reports whether a line is an item of a list.
func isItem(s string) bool {
	return strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "• ") || numbered(s)
}

// numbered reports whether a line begins with a number as lists have: "2. " or "2) ".
func numbered(s string) bool {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i > 0 && i < 3 && i+1 < len(s) && (s[i] == '.' || s[i] == ')') && s[i+1] == ' '
}
