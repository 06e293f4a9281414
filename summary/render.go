package summary

import (
	"slices"
	"strconv"
	"strings"
)

// mark opens every summary, so that it is known for what it is, by models and by this package.
const mark = "[Decant record of "

// render writes down what was picked.
func (d *digest) render(picks []pick) string {
	ps := slices.Clone(picks)
	open := make([]bool, len(d.groups))
	by := make([][]pick, len(d.groups))
	var names []pick
	for _, p := range ps {
		if p.group >= 0 {
			open[p.group] = true
		}
	}
	whole := map[int32]bool{}
	for _, p := range ps {
		if p.line >= 0 && p.end == 0 {
			whole[p.line] = true
		}
	}
	for _, p := range ps {
		if p.line >= 0 && d.groups[d.lines[p.line].group].section == secNames && p.end == 0 {
			p.end, p.group = int32(len(d.lines[p.line].text)), -1
			names = append(names, p)
			continue
		}
		switch {
		case p.line >= 0 && p.end > 0:
			if whole[p.line] {
				continue
			}
			if g := d.lines[p.line].group; open[g] {
				by[g] = append(by[g], p)
				continue
			}
			names = append(names, p)
		case p.atom >= 0:
			names = append(names, p)
		case p.group >= 0:
			by[p.group] = append(by[p.group], p)
		}
	}
	var b strings.Builder
	b.WriteString(mark + "m" + strconv.Itoa(d.from) + "-m" + strconv.Itoa(d.to) + notes[d.language()] + "\n")
	for s := range sections {
		if s == secNames {
			d.names(&b, names)
			continue
		}
		d.section(&b, s, by, open)
	}
	return b.String()
}

func (d *digest) section(b *strings.Builder, s section, by [][]pick, open []bool) {
	first := true
	last := 0
	for g := range d.groups {
		if !open[g] || d.groups[g].section != s {
			continue
		}
		if first {
			b.WriteString("# " + headings[d.language()][s] + "\n")
			first = false
		}
		gr := &d.groups[g]
		if gr.head != "" {
			b.WriteString(gr.head + "\n")
		} else if n := gr.number; n > 0 && (last == 0 || n-last >= max(4, d.messages/40)) {
			b.WriteString("m" + strconv.Itoa(n) + " ")
			last = n
		}
		d.body(b, by[g])
	}
}

// body writes the lines of a group, then the pieces of its other lines.
func (d *digest) body(b *strings.Builder, ps []pick) {
	slices.SortFunc(ps, byPlace)
	last := int32(-2)
	for _, p := range ps {
		if p.line < 0 || p.end > 0 {
			continue
		}
		l := &d.lines[p.line]
		joined := l.follows && p.line == last+1
		if last >= 0 {
			d.endLine(b, last, joined)
		}
		if l.follows && !joined {
			b.WriteString("… ")
		}
		b.WriteString(l.text)
		last = p.line
	}
	if last >= 0 {
		d.endLine(b, last, false)
	}
	d.fragments(b, ps, "… ")
}

// endLine ends a line that was written, or goes on on it.
func (d *digest) endLine(b *strings.Builder, n int32, joined bool) {
	switch {
	case joined:
		b.WriteByte(' ')
	case d.lines[n].cut:
		b.WriteString(" …\n")
	default:
		b.WriteByte('\n')
	}
}

// fragments writes pieces of lines in one line, each once.
func (d *digest) fragments(b *strings.Builder, ps []pick, start string) {
	var out strings.Builder
	for _, p := range ps {
		if p.line < 0 || p.end == 0 {
			continue
		}
		text := d.lines[p.line].text[p.start:p.end]
		switch {
		case out.Len() == 0:
			out.WriteString(start + text)
		case !strings.Contains(out.String(), text):
			out.WriteString("; " + text)
		}
	}
	if out.Len() > 0 {
		b.WriteString(out.String() + "\n")
	}
}

func byPlace(a, b pick) int {
	if a.line != b.line {
		return int(a.line - b.line)
	}
	return int(a.start - b.start)
}

func (d *digest) names(b *strings.Builder, ps []pick) {
	if len(ps) == 0 {
		return
	}
	b.WriteString("# " + headings[d.language()][secNames] + "\n")
	slices.SortFunc(ps, byPlace)
	d.fragments(b, ps, "")
	sep := ""
	for _, p := range ps {
		if p.atom >= 0 {
			b.WriteString(sep + d.atoms[p.atom].text)
			sep = " "
		}
	}
	b.WriteByte('\n')
}
