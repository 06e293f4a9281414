package code

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The most characters of an answer.
const (
	MostFile   = 8000 // of a file, or of a diff
	MostSearch = 4000 // of a search, or of a list of changes
	mostList   = 2000 // of a list of files
	MostTraces = 4000 // of traces; see Cut
)

// MostWhole is the most characters that an answer has where Options.Whole is set.
const MostWhole = 400_000

// most returns how many characters an answer may have that has a limit.
func (r *Reader) most(limit int) int {
	if r.whole {
		return MostWhole
	}
	return limit
}

// mostLine is the most characters of a line that an answer shows.
const mostLine = 1000

// Shown is lines of a file at a commit that somebody was shown.
type Shown struct {
	Repo     string `json:"repo"`
	SHA      string `json:"sha"` // the full one
	Path     string `json:"path"`
	FromLine int    `json:"from_line"` // from 1
	ToLine   int    `json:"to_line"`   // the last one
	Text     string `json:"text"`      // of the lines, as far as they were shown, without a line feed at the end
}

// An Answer is what a question about code has brought.
type Answer struct {
	Text  string  // for a model: a heading with the version and its notice, and what was asked for
	Shown []Shown // the lines in Text that are lines of files

	Change *Change // of a diff: the commit
	Left   int     // characters that had no room in Text
}

// A line is one of an answer.
type line struct {
	text string
	of   []place // the lines of files that it shows
}

// A place is a line of a file, and what is shown of it.
type place struct {
	path string
	sha  string
	n    int
	text string
}

// A page is an answer before it is cut.
type page struct {
	at    Version
	title string // what is shown: "prices.py, lines 1 to 80 of 80"
	lines []line
	most  int
	rest  func(missing []line) string // how to get lines that were left out
}

// answer returns the page in at most most characters: its beginning, its end, and between them what is missing and how to get it.
func (p *page) answer() Answer {
	title, _ := shorten(p.title, 1)
	head := p.at.short() + " " + title + "\n"
	if p.at.Notice != "" {
		head = "Notice: " + p.at.Notice + "\n" + head
	}
	room := p.most - utf8.RuneCountInString(head)
	var b strings.Builder
	b.WriteString(head)
	if total := length(p.lines); total <= room {
		writeLines(&b, p.lines)
		return Answer{Text: b.String(), Shown: p.shown(p.lines)}
	}
	first, missing, last := split(p.lines, max(0, room-p.markSize()))
	writeLines(&b, first)
	b.WriteString(p.mark(missing))
	writeLines(&b, last)
	return Answer{Text: b.String(), Shown: append(p.shown(first), p.shown(last)...), Left: length(missing)}
}

// mark returns the line that stands where lines were left out.
func (p *page) mark(missing []line) string {
	return fmt.Sprintf("[... %d characters in %d lines are left out here. %s ...]\n", length(missing), len(missing), p.rest(missing))
}

// markSize returns how long the mark is at most.
func (p *page) markSize() int { return utf8.RuneCountInString(p.mark(p.lines)) + 10 }

// split returns as many lines of the beginning as fit into half of the room, as many of the end as fit into the rest of it, and
// what is between them.
func split(lines []line, room int) (first, missing, last []line) {
	i, j := 0, len(lines)
	for used := 0; i < len(lines); i++ {
		if used += length(lines[i : i+1]); used > room/2 {
			break
		}
	}
	for used := 0; j > i; j-- {
		if used += length(lines[j-1 : j]); used > room-room/2 {
			break
		}
	}
	return lines[:i], lines[i:j], lines[j:]
}

// length returns how many characters lines have.
func length(lines []line) (n int) {
	for _, l := range lines {
		n += utf8.RuneCountInString(l.text) + 1
	}
	return n
}

func writeLines(b *strings.Builder, lines []line) {
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
}

// shown returns which lines of files some lines show. Neighbours become one.
func (p *page) shown(lines []line) (out []Shown) {
	for _, l := range lines {
		for _, at := range l.of {
			if !extend(out, at) {
				out = append(out, Shown{Repo: p.at.Repo, SHA: at.sha, Path: at.path, FromLine: at.n, ToLine: at.n, Text: at.text})
			}
		}
	}
	return out
}

// extend adds a line to one of the newest two of what was shown, the two sides of a diff, if it comes next there.
func extend(out []Shown, at place) bool {
	for i := len(out) - 1; i >= max(0, len(out)-2); i-- {
		if s := &out[i]; s.SHA == at.sha && s.Path == at.path && s.ToLine+1 == at.n {
			s.ToLine++
			s.Text += "\n" + at.text
			return true
		}
	}
	return false
}

// Cut returns a text in at most most characters: half of them from its beginning and half from its end, and between them how many are missing
// and how to get them. A text of exactly most characters stays as it is.
func Cut(text string, most int, rest string) string {
	total := utf8.RuneCountInString(text)
	if total <= most {
		return text
	}
	mark := func(n int) string { return fmt.Sprintf("\n[... %d characters are left out here. %s ...]\n", n, rest) }
	room := max(0, most-utf8.RuneCountInString(mark(total)))
	runes := []rune(text)
	return string(runes[:room/2]) + mark(total-room) + string(runes[total-(room-room/2):])
}

// shorten returns the beginning of a line from a character on, at most mostLine of them, and how many are behind it.
func shorten(text string, column int) (part string, more int) {
	n := utf8.RuneCountInString(text)
	if column <= 1 && n <= mostLine {
		return text, 0
	}
	runes := []rune(text)
	from := min(max(column-1, 0), n)
	to := min(from+mostLine, n)
	return string(runes[from:to]), n - to
}
