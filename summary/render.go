package summary

import (
	"slices"
	"strconv"
	"strings"
)

// mark opens every summary, so that it is known for what it is, by models and by this package.
const mark = "[Decant record of "

// A page is a summary as it is written down.
type page struct {
	*digest
	strings.Builder
	open  []bool   // groups that have something to say
	by    [][]pick // lines and pieces of each group
	names []pick   // pieces of other groups, and bare names
}

// render writes down what was picked, in the order of the sections and, in them, of the messages.
func (d *digest) render(picks []pick) string {
	p := d.layOut(picks)
	p.WriteString(mark + "m" + strconv.Itoa(d.from) + "-m" + strconv.Itoa(d.to) + notes[d.language()] + "\n")
	for s := range sections {
		switch s {
		case secNames:
			p.writeNames()
		case secExcerpts:
			p.writeExcerpts()
		default:
			p.writeSection(s)
		}
	}
	return p.String()
}

// layOut puts each pick where it belongs: a piece goes to its group if that is open, else to the names,
// and nowhere if its line is there as a whole.
func (d *digest) layOut(picks []pick) *page {
	p := &page{digest: d, open: make([]bool, len(d.groups)), by: make([][]pick, len(d.groups))}
	whole := map[int32]bool{}
	for _, x := range picks {
		if x.group >= 0 {
			p.open[x.group] = true
		}
		if x.whole() {
			whole[x.line] = true
		}
	}
	for _, x := range picks {
		switch {
		case x.piece() && whole[x.line]:
		case x.piece() && p.open[d.lines[x.line].group]:
			g := d.lines[x.line].group
			p.by[g] = append(p.by[g], x)
		case x.whole() && d.groups[x.group].section == secNames:
			x.end = int32(len(d.lines[x.line].text))
			p.names = append(p.names, x)
		case x.whole():
			p.by[x.group] = append(p.by[x.group], x)
		case x.piece() || x.atom >= 0:
			p.names = append(p.names, x)
		}
	}
	return p
}

func (x *pick) whole() bool { return x.line >= 0 && x.end == 0 }
func (x *pick) piece() bool { return x.line >= 0 && x.end > 0 }

// cites is about how many message numbers a section of prose may name: they cost tokens.
const cites = 40

// writeSection writes the groups of a section. A group without a head gets the number of its message,
// unless one close to it was just named.
func (p *page) writeSection(s section) {
	first, last := true, 0
	for g := range p.groups {
		if !p.open[g] || p.groups[g].section != s {
			continue
		}
		if first {
			p.WriteString("# " + headings[p.language()][s] + "\n")
			first = false
		}
		gr := &p.groups[g]
		switch n := gr.number; {
		case gr.head != "":
			p.WriteString(gr.head + "\n")
		case n > 0 && (last == 0 || n-last >= max(4, p.messages/cites)):
			p.WriteString("m" + strconv.Itoa(n) + " ")
			last = n
		}
		if s != secFiles && s != secCommands {
			p.writeBody(p.by[g])
		}
	}
}

// writeExcerpts writes what was picked of files and of what commands printed, each under a short name
// of its head.
func (p *page) writeExcerpts() {
	first, last := true, ""
	names := p.shortNames()
	for g := range p.groups {
		if s := p.groups[g].section; !p.open[g] || len(p.by[g]) == 0 || s != secFiles && s != secCommands {
			continue
		}
		if first {
			p.WriteString("# " + headings[p.language()][secExcerpts] + "\n")
			first = false
		}
		if names[g] != last {
			last = names[g]
			p.WriteString(last + ":\n")
		}
		p.writeBody(p.by[g])
	}
}

// shortNames returns what the heads of files and commands are called in excerpts: the end of a path
// that no other file of the page has, or the number of a command's message.
func (p *page) shortNames() map[int]string {
	out := map[int]string{}
	taken := map[string]bool{}
	for g := range p.groups {
		gr := &p.groups[g]
		if !p.open[g] || gr.section != secFiles && gr.section != secCommands {
			continue
		}
		name := "m" + strconv.Itoa(gr.number)
		if gr.file != nil {
			name = shortName(gr.file.path, taken)
		}
		taken[name], out[g] = true, name
	}
	return out
}

// shortName returns the shortest end of path, whole elements, that is not taken.
func shortName(path string, taken map[string]bool) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' && i+1 < len(path) && !taken[path[i+1:]] {
			return path[i+1:]
		}
	}
	return path
}

// writeBody writes the lines of a group, then the pieces of its other lines.
func (p *page) writeBody(xs []pick) {
	slices.SortFunc(xs, byPlace)
	last := int32(-1)
	for _, x := range xs {
		if !x.whole() {
			continue
		}
		l := &p.lines[x.line]
		joined := l.follows && last >= 0 && x.line == last+1
		p.endLine(last, joined)
		if l.follows && !joined {
			p.WriteString("… ")
		}
		p.WriteString(l.text)
		last = x.line
	}
	p.endLine(last, false)
	p.writePieces(xs, "… ")
}

// endLine ends line n, if any, or goes on on it when the next piece of the same line was picked, too.
func (p *page) endLine(n int32, joined bool) {
	switch {
	case n < 0:
	case joined:
		p.WriteByte(' ')
	case p.lines[n].cut:
		p.WriteString(" …\n")
	default:
		p.WriteByte('\n')
	}
}

// writePieces writes pieces of lines in one line, each once.
func (p *page) writePieces(xs []pick, start string) {
	var out strings.Builder
	for _, x := range xs {
		if !x.piece() {
			continue
		}
		text := p.lines[x.line].text[x.start:x.end]
		switch {
		case out.Len() == 0:
			out.WriteString(start + text)
		case !strings.Contains(out.String(), text):
			out.WriteString("; " + text)
		}
	}
	if out.Len() > 0 {
		p.WriteString(out.String() + "\n")
	}
}

// writeNames writes the pieces that have no group, then the bare names.
func (p *page) writeNames() {
	if len(p.names) == 0 {
		return
	}
	p.WriteString("# " + headings[p.language()][secNames] + "\n")
	slices.SortFunc(p.names, byPlace)
	p.writePieces(p.names, "")
	sep := ""
	for _, x := range p.names {
		if x.atom >= 0 {
			p.WriteString(sep + p.atoms[x.atom].text)
			sep = " "
		}
	}
	if sep != "" {
		p.WriteByte('\n')
	}
}

func byPlace(a, b pick) int {
	if a.line != b.line {
		return int(a.line - b.line)
	}
	if a.start != b.start {
		return int(a.start - b.start)
	}
	return int(a.atom - b.atom)
}
