package summary

import (
	"slices"
	"strconv"
	"strings"
)

// mark opens every record, so that it is known for what it is.
const mark = "[Decant record of "

// cites is about how many message numbers a section of prose may name: they cost tokens.
const cites = 40

// render writes down the entries that were picked, in the order of the sections and, in them, of the
// conversation.
func (b *book) render(picks []int32) string {
	p := page{book: b, by: map[section][]int32{}}
	for _, i := range picks {
		s := b.entries[i].sec
		p.by[s] = append(p.by[s], i)
	}
	p.WriteString(mark + "m" + strconv.Itoa(b.src.from) + "-m" + strconv.Itoa(b.src.to) + b.say(", not the user's words]", "，对话记录，并非用户的话]") + "\n")
	for s := range sections {
		if es := p.by[s]; len(es) > 0 {
			p.WriteString("# " + b.say(headings[0][s], headings[1][s]) + "\n")
			p.write(s, es)
		}
	}
	return p.String()
}

// headings are the titles of the sections, in English and Chinese.
var headings = [2][sections]string{
	{"User", "Questions and answers", "Goal", "Rules", "Plan", "State", "Files", "Said in the meeting", "Said by the model", "Conclusions", "The client's earlier summary", "Decisions", "Open", "Quotes", "Last"},
	{"用户", "问答", "目标", "规则", "计划", "状态", "文件", "会上说过的话", "模型说过的话", "结论", "客户端先前的摘要", "决定", "未完成", "摘录", "最近"},
}

// A page is a record as it is written down.
type page struct {
	book *book
	strings.Builder
	by map[section][]int32
}

// write writes the entries of a section.
func (p *page) write(s section, es []int32) {
	slices.SortFunc(es, func(i, j int32) int {
		a, b := &p.book.entries[i], &p.book.entries[j]
		if x, y := p.place(a), p.place(b); x != y {
			return x - y
		}
		if a.group != b.group {
			return int(a.group - b.group)
		}
		return int(i - j)
	})
	group, cited := int32(-1), 0
	for _, i := range es {
		e := &p.book.entries[i]
		if e.group != group && e.group >= 0 {
			group = e.group
			if h := p.book.groups[group].head; h != "" {
				p.WriteString(h + "\n")
			}
		}
		if e.text == "" {
			continue
		}
		lead := indent
		if p.cites(s, e, cited) {
			lead = cite(e.number)
			cited = e.number
		}
		if s == secFiles || s == secPlan && e.number == 0 {
			lead = "" // such a line begins with what it is about
		}
		p.WriteString(lead + strings.ReplaceAll(e.text, "\n", "\n"+indent) + "\n")
	}
}

// indent stands before every line that does not begin with the number of its message or with what it is
// about. What somebody said or a tool returned is never at the start of a line, so it cannot pass for a
// heading when the record is read again.
const indent = "  "

// cites reports whether an entry is written with the number of its message: unless one close to it was
// just named.
func (p *page) cites(s section, e *entry, last int) bool {
	switch {
	case e.number == 0 || s == secQuotes || s == secFiles:
		return false
	case s == secUser || s == secAnswers || s == secRules || s == secState || s == secLast:
		return e.number != last
	}
	return last == 0 || e.number-last >= max(4, p.book.src.messages/cites)
}

// place returns where an entry stands in its section.
func (p *page) place(e *entry) int {
	if e.group >= 0 {
		return p.book.groups[e.group].at
	}
	return e.number
}
