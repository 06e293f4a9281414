package summary

import (
	"slices"
	"strconv"
	"strings"
)

// render writes down the entries that were picked, in the order of the sections and, in them, of the
// conversation.
func (b *book) render(picks []int32) string {
	p := page{book: b, by: map[section][]int32{}}
	for _, i := range picks {
		s := b.entries[i].sec
		p.by[s] = append(p.by[s], i)
	}
	p.WriteString(mark + "m" + strconv.Itoa(b.src.from) + "-m" + strconv.Itoa(b.src.to) + b.say(", not the user's words", "，对话记录，并非用户的话") + b.by(b.authors) + "]\n")
	for s := range sections {
		if es := p.by[s]; len(es) > 0 {
			p.WriteString("# " + b.say(headings[0][s], headings[1][s]) + "\n")
			p.write(s, es)
		}
	}
	return p.String()
}

// by says who wrote the lines of segments.
func (m *manner) by(authors string) string {
	if authors == "" {
		return ""
	}
	return m.say("; what stands under Summaries was written by "+authors, "；“摘要”下的内容由 "+authors+" 撰写")
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
	before := int32(-1) // the entry on the line before, -1: there is a heading
	for _, i := range es {
		e := &p.book.entries[i]
		if s == secQuotes && e.group == group && before >= 0 && (i != before+1 || !e.joins) && e.text != "" {
			p.WriteString(indent + gapMark + "\n")
		}
		if e.group != group && e.group >= 0 {
			group = e.group
			if h := p.book.groups[group].head; h != "" {
				p.WriteString(h + "\n")
			}
		}
		if e.text == "" {
			before = -1
			continue
		}
		before = i
		lead := indent
		if e.number != cited && e.number != 0 && s != secQuotes && s != secWritten && s != secFiles {
			lead = cite(e.number) // once for what follows from the same message
			cited = e.number
		}
		if s == secFiles || s == secPlan && e.number == 0 {
			lead = "" // such a line begins with what it is about
		}
		p.WriteString(lead + strings.ReplaceAll(e.text, "\n", "\n"+indent) + "\n")
	}
}

// place returns where an entry stands in its section.
func (p *page) place(e *entry) int {
	if e.group >= 0 {
		return p.book.groups[e.group].at
	}
	return e.number
}

// gapMark stands between what is quoted where something was left out.
const gapMark = "…"
