package secret

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A part of a shape is a literal, or a number of bytes of a class.
type part struct {
	literal  string
	class    uint8
	min, max int
	id       int // of the parts with a class, among those of all rules
}

// A form is a rule that is ready to be looked for.
type form struct {
	kind  string
	parts []part
	least int // bytes of the shortest match
}

// open is the bound of a class that has none.
const open = math.MaxInt

// forms are the rules, classed is how many parts with a class all of them have.
var forms, classed = func() (out []*form, n int) {
	for _, r := range rules {
		f := &form{kind: r.kind, parts: parse(r.shape)}
		for i := range f.parts {
			p := &f.parts[i]
			f.least += len(p.literal) + p.min
			if p.literal == "" {
				p.id = n
				n++
			}
		}
		out = append(out, f)
	}
	return out, n
}()

// parse returns the parts of a shape.
func parse(shape string) (out []part) {
	for shape != "" {
		literal, rest, found := strings.Cut(shape, "{")
		if literal != "" {
			out = append(out, part{literal: literal})
		}
		if !found {
			break
		}
		var p string
		p, shape, _ = strings.Cut(rest, "}")
		out = append(out, counted(p))
	}
	return out
}

// counted returns the part that is written as "w36", "t20-40" or "t20+".
func counted(s string) part {
	p := part{class: letters[s[0]]}
	low, high, ranged := strings.Cut(s[1:], "-")
	low, more := strings.CutSuffix(low, "+")
	var err error
	if p.min, err = strconv.Atoi(low); err != nil || p.class == 0 {
		panic(fmt.Sprintf("secret: a rule has the part %q", s))
	}
	p.max = p.min
	if more {
		p.max = open
	}
	if ranged {
		if p.max, err = strconv.Atoi(high); err != nil {
			panic(fmt.Sprintf("secret: a rule has the part %q", s))
		}
	}
	return p
}

// words looks at what words tell: credentials by their form, phrases that stand before one, programs and
// their flags. A word is a run of letters and digits; a line end in a JSON string is not part of it.
func (s *scanner) words() {
	for i := 0; i < len(s.text); {
		c := s.text[i]
		if class[c]&alnum == 0 {
			i++
			if c == '-' && i < len(s.text) && isLetterOrDash(s.text[i]) {
				i = max(i, s.flag(i-1))
			}
			continue
		}
		if escaped(s.text, i) {
			i++
			continue
		}
		end := i + 1
		for end < len(s.text) && class[s.text[end]]&alnum != 0 {
			end++
		}
		i = max(end, s.word(i, end))
	}
}

// word returns the end of the credential that begins with the word from i to end, or that the word stands
// before, or 0.
func (s *scanner) word(i, end int) int {
	if end-i >= shortestCount && end < len(s.text) {
		if stop := s.measured(i, end); stop > 0 {
			return stop
		}
	}
	if i+1 == len(s.text) {
		return 0
	}
	o := &openings[pair(s.text[i], s.text[i+1])]
	if stop := s.formed(i, o.forms); stop > 0 {
		return stop
	}
	if stop := s.introduced(i, o.phrases); stop > 0 {
		return stop
	}
	s.program(i, o.programs)
	return 0
}

func isLetterOrDash(c byte) bool { return c == '-' || isLetter(c) }

// pair is a number for two letters, blind to case.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// An opening is what may begin with two letters.
type opening struct {
	forms    []*form
	phrases  []int
	programs []int
}

// openings are all of them.
var openings = func() (out [1 << 10]opening) {
	at := func(s string) *opening { return &out[pair(s[0], s[1])] }
	for _, f := range forms {
		if p := f.parts[0].literal; p != "" {
			at(p).forms = append(at(p).forms, f)
		}
	}
	for i := range phrases {
		o := at(phrases[i].text)
		o.phrases = append(o.phrases, i)
	}
	for i := range programs {
		o := at(programs[i].name)
		o.programs = append(o.programs, i)
	}
	return out
}()

// counting are the rules that begin with a number of bytes, shortestCount is the least of these.
var counting, shortestCount = func() (out []*form, least int) {
	least = math.MaxInt
	for _, f := range forms {
		if p := &f.parts[0]; p.literal == "" {
			out = append(out, f)
			least = min(least, p.min)
		}
	}
	return out, least
}()

// measured returns the end of the credential that begins with the word from i to end, by rules that begin
// with a number of bytes, or 0.
func (s *scanner) measured(i, end int) int {
	for _, f := range counting {
		p := &f.parts[0]
		if end-i >= p.min && end-i <= p.max && s.text[end] == f.parts[1].literal[0] {
			if stop := s.match(f, i); stop > 0 {
				s.add(i, stop, f.kind)
				return stop
			}
		}
	}
	return 0
}

// formed returns the end of the credential that begins at i and has one of some forms, or 0.
func (s *scanner) formed(i int, forms []*form) int {
	for _, f := range forms {
		if end := s.match(f, i); end > 0 {
			s.add(i, end, f.kind)
			return end
		}
	}
	return 0
}

// match returns the end of the match of f that begins at i, or 0.
func (s *scanner) match(f *form, i int) int {
	if i+f.least > len(s.text) {
		return 0
	}
	at, from := i, 0 // from is where the part that differs begins
	for k := range f.parts {
		p := &f.parts[k]
		if p.literal != "" {
			if !strings.HasPrefix(s.text[at:], p.literal) {
				return 0
			}
			at += len(p.literal)
			continue
		}
		if from == 0 {
			from = at
		}
		end := s.run(p, at)
		if end-at < p.min || end-at > p.max {
			return 0
		}
		at = end
	}
	if s.nextDigit(from) >= at && !f.capital() && !drawn(s.text[from:at]) {
		return 0 // a word that continues
	}
	return at
}

// drawn reports whether a text without digits is one that a machine has made: capital and small letters
// without an order. One key of 24 letters in seventy has no digit. In words in a row each capital stands
// alone.
func drawn(text string) bool {
	text = text[:min(len(text), 64)]
	pairs, changes, small := 0, 0, false
	for i := 1; i < len(text); i++ {
		is, was := isUpper(text[i]), isUpper(text[i-1])
		if is && was {
			pairs++
		}
		if is != was {
			changes++
		}
		small = small || isLetter(text[i]) && !is
	}
	return small && changes >= 3 && pairs > 0
}

// capital reports whether a credential of this form may be of capital letters alone.
func (f *form) capital() bool { return f.parts[len(f.parts)-1].class == upper }

// run returns where the bytes of a part's class end that begin at i. From one call to the next i only
// grows, so each byte is looked at once for each part.
func (s *scanner) run(p *part, i int) int {
	if s.ends == nil {
		s.ends = make([]span, classed)
	}
	known := &s.ends[p.id]
	if i < known.start || i > known.end || known.end == 0 {
		j := i
		for j < len(s.text) && class[s.text[j]]&p.class != 0 {
			j++
		}
		s.work += j - i + 1
		*known = span{i, j}
	}
	return known.end
}

// nextDigit returns where the first digit from i on is.
func (s *scanner) nextDigit(i int) int {
	if i < s.digit.start || i > s.digit.end {
		j := i
		for j < len(s.text) && !isDigit(s.text[j]) {
			j++
		}
		s.work += j - i + 1
		s.digit = span{i, j}
	}
	return s.digit.end
}
