package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A criterion of a rubric and what it weighs.
type criterion struct {
	name   string
	weight float64
}

var (
	weighted = regexp.MustCompile(`(?i)([\pL][\pL .'/+-]*?)\s*(?:[:=(-]|weighs|counts|is worth)?\s*(\d+(?:\.\d+)?)\s*(%|points?|parts?)`)
	bare     = regexp.MustCompile(`(?i)^\W*(?:and\s+)?([\pL][\pL .'/+-]*?)\s*(?:[:=(-])?\s*(\d+(?:\.\d+)?)\W*$`)
	percent  = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*%\s*(?:for |of |on )?([\pL][\pL '/+-]*)`)
	thing    = regexp.MustCompile(`(?i)\b([a-z]+)[\s#_-]*(\d+)\b\s*[:|)(.\]-]`)
	forbids  = regexp.MustCompile(`(?i)\b(?:never|do not|don't)\s+(?:list|show|include|report|score|consider)\s+(?:anything (?:of|from|by)\s+)?([\pL\pN][\pL\pN .&'-]*)`)
)

// score scores what a prompt shows by the rubric that it shows.
func score(seen []string) string {
	rubric := rubricIn(seen)
	if rubric == nil {
		return "I do not know the rubric."
	}
	type scored struct {
		name, url string
		value     float64
	}
	var list []scored
	done := map[string]bool{}
	for _, t := range seen {
		for _, m := range thing.FindAllStringSubmatchIndex(t, -1) {
			word := t[m[2]:m[3]]
			name := strings.ToUpper(word[:1]) + strings.ToLower(word[1:]) + " " + t[m[4]:m[5]]
			if done[name] || !rubric[0].in(t[m[1]:min(len(t), m[1]+maxWindow)]) {
				continue
			}
			for _, near := range windows(t, name) {
				if v, ok := rate(near, rubric); ok && !forbidden(seen, near) {
					list, done[name] = append(list, scored{name, valueOf(near, "url"), v}), true
					break
				}
			}
		}
	}
	if len(list) == 0 {
		return "I do not know anything to score by the rubric."
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		if a.value != b.value {
			return int(1000 * (b.value - a.value))
		}
		return strings.Compare(a.name, b.name)
	})
	out := ""
	for _, s := range list {
		out += strings.TrimSpace(fmt.Sprintf("%s: %.2f %s", s.name, s.value, s.url)) + "\n"
	}
	return strings.TrimSpace(out)
}

// in reports whether a text has a word of the criterion's name.
func (c criterion) in(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(strings.Fields(c.name), func(w string) bool { return strings.Contains(text, w) })
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
			out = append(out, criterion{name, w})
		}
	}
	return out
}

// rate returns the weighted mean of what a text rates, on the scale of its ratings; false when one is missing.
func rate(text string, rubric []criterion) (float64, bool) {
	sum, weights := 0.0, 0.0
	for _, c := range rubric {
		found := false
		for _, name := range append([]string{c.name}, strings.Fields(c.name)...) {
			says := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `["'*]*\s*(?:rating|score)?\s*[:=(]?\s*(\d+(?:\.\d+)?)\b(?:\s*(%|points|parts))?`)
			m := says.FindStringSubmatch(text)
			if m == nil || m[2] != "" {
				continue
			}
			v, err := strconv.ParseFloat(m[1], 64)
			if found = err == nil; found {
				sum, weights = sum+v*c.weight, weights+c.weight
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return sum / weights, true
}

// forbidden reports whether a line forbids what a text names.
func forbidden(seen []string, text string) bool {
	for _, t := range seen {
		for _, m := range forbids.FindAllStringSubmatch(t, -1) {
			if name := strings.TrimRight(strings.TrimSpace(m[1]), "."); name != "" && strings.Contains(strings.ToLower(text), strings.ToLower(name)) {
				return true
			}
		}
	}
	return false
}
