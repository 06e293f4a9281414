package sandbox

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A criterion of a rubric and what it weighs.
type criterion struct {
	name   string
	weight float64
	says   *regexp.Regexp // what rates it
}

var (
	weighted = lazyregexp.New(`(?i)([\pL][\pL .'/+-]*?)\s*(?:[:=(-]|weighs|counts|is worth)?\s*(\d+(?:\.\d+)?)\s*(%|points?|parts?)`)
	bare     = lazyregexp.New(`(?i)^\W*(?:and\s+)?([\pL][\pL .'/+-]*?)\s*(?:[:=(-])?\s*(\d+(?:\.\d+)?)\W*$`)
	percent  = lazyregexp.New(`(?i)(\d+(?:\.\d+)?)\s*%\s*(?:for |of |on )?([\pL][\pL '/+-]*)`)
	thing    = lazyregexp.New(`(?i)\b([a-z]+)[\s#_-]*(\d+)\b(\s*[:|)(.\]-])?`)
	forbids  = lazyregexp.New(`(?i)\b(?:never|do not|don't)\s+(?:list|show|include|report|score|consider)\s+(?:anything (?:of|from|by)\s+)?([\pL\pN][\pL\pN .&'-]*)`)
)

// A scored thing is one that a rubric was applied to.
type scored struct {
	name, url string
	value     float64
}

// score scores what a prompt shows by the rubric that it shows: things of the kind that is asked for, or whatever stands
// at the beginning of a line.
func score(seen []string, asked string) string {
	rubric := rubricIn(seen)
	if rubric == nil {
		return "I do not know the rubric."
	}
	kinds := words.FindAllString(strings.ToLower(asked), -1)
	ofKind := func(m mention) bool { return slices.Contains(kinds, m.word) || slices.Contains(kinds, m.word+"s") }
	list := rated(seen, rubric, ofKind)
	if list == nil {
		list = rated(seen, rubric, func(m mention) bool { return m.first })
	}
	if list == nil {
		return "I do not know anything to score by the rubric."
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name))
	})
	out := ""
	for _, s := range list {
		out += strings.TrimSpace(fmt.Sprintf("%s: %.2f %s", s.name, s.value, s.url)) + "\n"
	}
	return strings.TrimSpace(out)
}

// rated returns the things that a rubric applies to, of those that fit and that nothing forbids.
func rated(seen []string, rubric []criterion, fits func(mention) bool) (list []scored) {
	no := forbidden(seen)
	done := map[string]bool{}
	for _, t := range seen {
		for _, m := range mentions(t) {
			if done[m.name] || !fits(m) {
				continue
			}
			v, ok := rate(m.text, rubric)
			if done[m.name] = ok; !ok {
				continue
			}
			if !slices.ContainsFunc(no, func(name string) bool { return strings.Contains(strings.ToLower(m.text), name) }) {
				list = append(list, scored{m.name, valueOf(m.text, "url"), v})
			}
		}
	}
	return list
}

// A mention of a thing with a number, and the text that belongs to it.
type mention struct {
	name, text, word string
	first            bool // it begins a line
}

// mentions returns what a text says of things with numbers: from each mention with a colon, a dot, a bar, a dash or a
// bracket behind it to the next thing of its kind, or to an empty line.
func mentions(text string) (out []mention) {
	all := thing.FindAllStringSubmatchIndex(text, -1)
	for i, m := range all {
		if m[6] < 0 {
			continue
		}
		word, number := strings.ToLower(text[m[2]:m[3]]), text[m[4]:m[5]]
		end := min(len(text), m[1]+maxWindow)
		if k := strings.Index(text[m[1]:end], "\n\n"); k >= 0 {
			end = m[1] + k
		}
		for _, o := range all[i+1:] {
			if o[0] >= end {
				break
			}
			if strings.EqualFold(text[o[2]:o[3]], word) && text[o[4]:o[5]] != number {
				end = o[0]
			}
		}
		line := text[strings.LastIndexByte(text[:m[0]], '\n')+1 : m[0]]
		out = append(out, mention{
			name: strings.ToUpper(word[:1]) + word[1:] + " " + number, text: text[m[1]:end], word: word, first: strings.Trim(line, " \t*#>|-") == "",
		})
	}
	return out
}

// rubricIn returns the criteria of the newest text that weighs two or more.
func rubricIn(seen []string) []criterion {
	for _, t := range seen {
		var out []criterion
		for line := range strings.Lines(t) {
			for _, c := range criteria(line) {
				i := slices.IndexFunc(out, func(o criterion) bool { return o.name == c.name })
				if i < 0 {
					out = append(out, c)
				} else {
					out[i] = c
				}
			}
		}
		if len(out) > 1 {
			return out
		}
	}
	return nil
}

// criteria returns what a line weighs: "stack match (30%), pay: 25 %", "40% stack", "stack 4 points, pay 3".
func criteria(line string) (out []criterion) {
	if !strings.Contains(line, "%") && !weighted.MatchString(line) {
		return nil
	}
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
		name, number := "", ""
		if m := weighted.FindStringSubmatch(part); m != nil {
			name, number = m[1], m[2]
		} else if m := percent.FindStringSubmatch(part); m != nil {
			name, number = m[2], m[1]
		} else if m := bare.FindStringSubmatch(part); m != nil {
			name, number = m[1], m[2]
		}
		name = strings.ToLower(strings.Trim(name[strings.LastIndex(name, ". ")+1:], " .-+"))
		name = strings.TrimPrefix(strings.TrimPrefix(name, "and "), "weight of ")
		if w, err := strconv.ParseFloat(number, 64); err == nil && w > 0 && name != "" {
			out = append(out, criterion{name, w, rating(name)})
		}
	}
	return out
}

// rating returns what finds the rating of a criterion: its name, or one word of it, and a number.
func rating(name string) *regexp.Regexp {
	any := regexp.QuoteMeta(name)
	for _, word := range strings.Fields(name) {
		any += "|" + regexp.QuoteMeta(word)
	}
	return regexp.MustCompile(`(?i)\b(?:` + any + `)["'*]*\s*(?:rating|score)?\s*[:=(]?\s*(\d+(?:\.\d+)?)\b(?:\s*(%|points|parts))?`)
}

// rate returns the weighted mean of what a text rates, on the scale of its ratings; false when one is missing.
func rate(text string, rubric []criterion) (float64, bool) {
	sum, weights := 0.0, 0.0
	for _, c := range rubric {
		m := c.says.FindStringSubmatch(text)
		if m == nil || m[2] != "" {
			return 0, false
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, false
		}
		sum, weights = sum+v*c.weight, weights+c.weight
	}
	return sum / weights, true
}

// forbidden returns the names that lines forbid, in lower case.
func forbidden(seen []string) (out []string) {
	for _, t := range seen {
		for _, m := range forbids.FindAllStringSubmatch(t, -1) {
			if name := strings.TrimRight(strings.TrimSpace(m[1]), "."); name != "" {
				out = append(out, strings.ToLower(name))
			}
		}
	}
	return out
}
