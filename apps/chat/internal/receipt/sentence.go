package receipt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A piece is a part of an answer for which sources are looked up by themselves: a sentence, an item of a list, a row, a block of code.
type piece struct {
	start, end int // bytes of the answer
	code       bool
}

// grow adds a line to a piece, which begins with it if it has not begun.
func (p *piece) grow(from, end int) {
	if p.start < 0 {
		p.start = from
	}
	p.end = end
}

var (
	fence   = lazyregexp.New("^ {0,3}(```+|~~~+)")
	heading = lazyregexp.New(`^ {0,3}#{1,6}\s`)
	lead    = lazyregexp.New(`^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+|>\s?|\|)`)
	ruling  = lazyregexp.New(`^[\s|:*_=-]*$`)
)

// pieces splits an answer.
func pieces(answer string) (out []piece) {
	open, mark := piece{start: -1}, "" // the paragraph, or the block of code, that has begun
	end := func() {
		if open.start >= 0 && !open.code {
			out = append(out, sentences(answer, open)...)
		} else if open.start >= 0 {
			out = append(out, open)
		}
		open = piece{start: -1}
	}
	for at := 0; at < len(answer); {
		next := len(answer)
		if i := strings.IndexByte(answer[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line, from := answer[at:next], at
		at = next
		m := fence.FindStringSubmatch(line)
		switch {
		case mark != "":
			if m != nil && strings.HasPrefix(m[1], mark) {
				mark = ""
				end()
			} else {
				open.grow(from, next)
				open.code = true
			}
		case m != nil:
			end()
			mark = m[1]
		case ruling.MatchString(line):
			end()
		default:
			if l := lead.FindStringIndex(line); l != nil {
				end()
				from += l[1]
			}
			open.grow(from, next)
			if heading.MatchString(line) {
				end()
			}
		}
	}
	end()
	return trimmed(answer, out)
}

// trimmed returns pieces without the space around them. What holds no letter and no digit is none.
func trimmed(answer string, all []piece) (out []piece) {
	for _, p := range all {
		s := answer[p.start:p.end]
		p.start += len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
		s = strings.TrimSpace(s)
		p.end = p.start + len(s)
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			out = append(out, p)
		}
	}
	return out
}

const (
	stops     = ".!?…؟।۔"
	wideStops = "。！？"
	closers   = "\"')]}*_`»”’」』）】"
)

// sentences splits a paragraph.
func sentences(answer string, p piece) (out []piece) {
	from, code := p.start, false
	for at := p.start; at < p.end; {
		r, n := utf8.DecodeRuneInString(answer[at:p.end])
		at += n
		if r == '`' {
			code = !code
		}
		if code || !strings.ContainsRune(stops, r) && !strings.ContainsRune(wideStops, r) {
			continue
		}
		end := at
		for end < p.end { // what closes belongs to the sentence, and so do further stops
			r, n := utf8.DecodeRuneInString(answer[end:p.end])
			if !strings.ContainsRune(closers+stops+wideStops, r) {
				break
			}
			end += n
		}
		if strings.ContainsRune(wideStops, r) || r == '।' || ends(answer[from:at], answer[end:p.end]) {
			out = append(out, piece{start: from, end: end})
			from, at = end, end
		}
	}
	return append(out, piece{start: from, end: p.end})
}

// short are words that end with a point in the middle of a sentence.
var short = map[string]bool{
	"e.g": true, "i.e": true, "z.b": true, "d.h": true, "dr": true, "mr": true, "mrs": true, "ms": true, "prof": true, "st": true, "no": true, "nr": true,
	"vs": true, "ca": true, "bzw": true, "approx": true, "fig": true, "cf": true, "al": true, "art": true, "p": true, "pp": true, "sec": true, "ch": true,
}

// ends reports whether a sentence is over after before, which ends with a stop, if rest follows.
func ends(before, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && !unicode.IsSpace(next) {
		return false
	}
	body, point := strings.CutSuffix(before, ".")
	if !point {
		return true
	}
	next, _ = utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	if unicode.IsLower(next) {
		return false
	}
	word := body[strings.LastIndexFunc(body, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	if n := utf8.RuneCountInString(word); n == 1 && unicode.IsLetter([]rune(word)[0]) { // an initial
		return rest == ""
	}
	return rest == "" || !short[strings.ToLower(word)]
}
