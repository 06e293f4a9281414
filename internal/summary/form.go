package summary

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// A section is a part of a record under one heading.
type section uint8

// The sections of a record, in the order in which they are read: what the user wants, how far the work is,
// what was learned, and at the end the lines that it was learned from.
const (
	secUser section = iota
	secAnswers
	secGoal
	secRules
	secDone // jobs that are finished
	secPlan
	secHandles // what still runs or is open, and where outputs are
	secState
	secFiles
	secMeeting // no model took part: what was said, line by line
	secTalk    // there is more talk than work: what the model said, line by line
	secSaid
	secEarlier
	secDecided
	secOpen
	secWritten // lines of what models wrote
	secQuotes
	secLast
	sections
)

// cite returns the short name of a message, followed by a blank.
func cite(number int) string {
	if number == 0 {
		return ""
	}
	return "m" + strconv.Itoa(number) + " "
}

// mark opens every record, so that it is known for what it is.
const mark = "[Decant record of "

// headings are the titles of the sections, in English and Chinese.
var headings = [2][sections]string{
	{
		"User", "Questions and answers", "Goal", "Rules", "Finished", "Plan", "Handles", "State", "Files",
		"Said in the meeting", "Said by the model", "Conclusions", "The client's earlier summary", "Decisions",
		"Open", "Summaries", "Quotes", "Last",
	},
	{"用户", "问答", "目标", "规则", "已完成", "计划", "句柄", "状态", "文件", "会上说过的话", "模型说过的话", "结论", "客户端先前的摘要", "决定", "未完成", "摘要", "摘录", "最近"},
}

// indent precedes every line that does not begin with the number of its message or with what it is about.
// What somebody said or a tool returned is never at the start of a line, so it cannot pass for a heading when
// the record is read again.
const indent = "  "

func itoa(n int) string { return strconv.Itoa(n) }

// The headings of what a repair appends.
const (
	alsoHeading  = "Also said"
	namesHeading = "Index of names"
)

// Pinned is the heading of the part of a record that others pinned. It comes last, and all that follows is as
// it was.
const Pinned = "Pinned, verbatim"

// Section returns a part of a record's text under a heading of its own, to follow the record. Its lines are
// indented, as all lines of a record are that somebody else wrote, unless it is Pinned.
func Section(head, body string) string {
	if head != Pinned {
		body = indent + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n"+indent)
	}
	return "\n\n# " + head + "\n" + body
}

// Sections yields the headings of the parts of a record, and their text without the indent.
func Sections(record string) iter.Seq2[string, string] {
	return func(yield func(head, body string) bool) {
		head, body := "", ""
		for line := range strings.Lines(record) {
			next, ok := strings.CutPrefix(line, "# ")
			if !ok || head == Pinned {
				body += cutIndent(head, line)
				continue
			}
			if head != "" && !yield(head, strings.TrimSpace(body)) {
				return
			}
			head, body = strings.TrimSpace(next), ""
		}
		if head != "" {
			yield(head, strings.TrimSpace(body))
		}
	}
}

func cutIndent(head, line string) string {
	if head == Pinned {
		return line
	}
	return strings.TrimPrefix(line, indent)
}

// sectionNamed returns the section with a heading, or sections if there is none, as for text behind a record.
func sectionNamed(name string) section {
	for _, hs := range headings {
		if i := slices.Index(hs[:], name); i >= 0 {
			return section(i)
		}
	}
	if name == alsoHeading {
		return secRules
	}
	return sections
}

// messageNumber reads "m12 " at the start of s and returns what follows.
func messageNumber(s string) (int, string) {
	if len(s) < 3 || s[0] != 'm' {
		return 0, s
	}
	i := 1
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == len(s) || s[i] != ' ' {
		return 0, s
	}
	n, err := strconv.Atoi(s[1:i])
	if err != nil {
		return 0, s
	}
	return n, s[i+1:]
}
