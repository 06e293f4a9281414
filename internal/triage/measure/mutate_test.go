package measure_test

import (
	"regexp"
	"slices"
	"strings"
)

// A change is a mutation of one file: some lines in the place of as many others.
type change struct {
	kind string
	file string
	from int // the first line, from 1
	to   int // the last one
	text string
}

// The kinds of mutations.
var kinds = []string{"nil", "off by one", "swapped argument", "missing key", "timeout"}

var (
	goNil     = regexp.MustCompile(`^\s*if ([\w.]+) == (?:nil|0)(?: \|\| .*)? \{$`)
	pyNil     = regexp.MustCompile(`^\s*if (\w+) is None:$`)
	pyKey     = regexp.MustCompile(`^\s*if ["\w]+ not in \w+(?: or .*)?:$`)
	pyGet     = regexp.MustCompile(`\.get\(("\w+"|\w+(?:\["\w+"\])?)(?:, (?:[^()]|\(\w*\))*)?\)`)
	fromMap   = regexp.MustCompile(`:?= \w+\[\w+\]$`)
	lengths   = regexp.MustCompile(`len\((\w+(?:\.\w+)?)\) ?- ?1`)
	belowLen  = regexp.MustCompile(`< (len\()`)
	atLen     = regexp.MustCompile(`>= (len\()`)
	ranged    = regexp.MustCompile(`range\((len\(\w+\))\)`)
	arguments = regexp.MustCompile(`\b\w+\(((?:\w+, )*?)(\w*[a-z]\w*), (\w*[a-z]\w*)((?:, [\w."]+)*)\)`)
	receiver  = regexp.MustCompile(`\((?:self|cls)\b`)
	goLimit   = regexp.MustCompile(`(\d+) \* time\.Second`)
	pyLimit   = regexp.MustCompile(`(?i)(timeout\w* ?= ?)(\d+\.\d+)`)
	msLimit   = regexp.MustCompile(`(?i)(timeout_ms = )(\d+)`)
)

// changes returns all mutations of a file.
func changes(name, text string) (out []change) {
	lines := strings.Split(text, "\n")
	add := func(kind string, n int, now string) {
		if now != lines[n] {
			out = append(out, change{kind, name, n + 1, n + 1, now})
		}
	}
	for n, l := range lines {
		out = append(out, unguarded(name, lines, n)...)
		if strings.HasPrefix(strings.TrimSpace(l), "//") || strings.HasPrefix(strings.TrimSpace(l), "#") || strings.Contains(l, `"""`) {
			continue
		}
		add("missing key", n, pyGet.ReplaceAllString(l, "[$1]"))
		add("off by one", n, lengths.ReplaceAllString(l, "len($1)"))
		add("off by one", n, belowLen.ReplaceAllString(l, "<= $1"))
		add("off by one", n, atLen.ReplaceAllString(l, "> $1"))
		add("off by one", n, ranged.ReplaceAllString(l, "range($1 + 1)"))
		if m := arguments.FindStringSubmatchIndex(l); m != nil && !strings.Contains(l, "Errorf") && !receiver.MatchString(l) {
			add("swapped argument", n, l[:m[4]]+l[m[6]:m[7]]+", "+l[m[4]:m[5]]+l[m[7]:])
		}
		if strings.Contains(strings.ToLower(l), "timeout") || strings.Contains(strings.ToLower(l), "deadline") {
			add("timeout", n, goLimit.ReplaceAllString(l, "$1 * time.Millisecond"))
			add("timeout", n, pyLimit.ReplaceAllString(l, "${1}0.002"))
			add("timeout", n, msLimit.ReplaceAllString(l, "${1}1"))
		}
	}
	return out
}

// unguarded returns the mutation that takes a check away which begins in a line. Empty lines stand in its place, so that all others keep their numbers.
func unguarded(name string, lines []string, n int) []change {
	l, kind := lines[n], "nil"
	var end int
	switch {
	case goNil.MatchString(l) && n+2 < len(lines) && strings.TrimSpace(lines[n+2]) == "}" && strings.Contains(lines[n+1], "return"):
		end = n + 2
	case pyNil.MatchString(l) && n+1 < len(lines) && strings.Contains(lines[n+1], "return"):
		end = n + 1
	case pyKey.MatchString(l) && n+1 < len(lines) && strings.Contains(lines[n+1], "return"):
		end, kind = n+1, "missing key"
	default:
		return nil
	}
	if n > 0 && fromMap.MatchString(lines[n-1]) {
		kind = "missing key"
	}
	return []change{{kind, name, n + 1, end + 1, strings.Repeat("\n", end-n)}}
}

// made returns a file with the mutation.
func (c *change) made(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(slices.Concat(lines[:c.from-1], strings.Split(c.text, "\n"), lines[c.to:]), "\n")
}

var word = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'|[A-Za-z_]\w*`)

var named = regexp.MustCompile(`(?m)\b(?:def|class|func(?: \([^)]*\))?|type) (\w+)|^\s*(?:const |var )?(\w+)(?:, (\w+))? (?::=|=) |for (\w+) in `)

// plainWords stay as they are: other code gives them their meaning.
var plainWords = strings.Fields("self main time err error errors json out in ok init Error String os sys queue re class def return None True False nil fmt report log strings context Time Second title")

// A naming gives other names to what a program defines.
type naming map[string]string

// renaming returns other names for all that some files define, and for the files.
func renaming(files map[string]string) naming {
	out := naming{}
	for _, name := range slices.Sorted(keys(files)) {
		if !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".py") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(files[name], -1) {
			for _, w := range m[1:] {
				if len(w) > 1 && !slices.Contains(plainWords, w) && out[w] == "" && !strings.HasPrefix(w, "__") {
					out[w] = "q" + strings.Repeat("x", len(out)%3) + string(rune('a'+len(out)%26)) + string(rune('a'+len(out)/26))
				}
			}
		}
	}
	return out
}

// text returns a source with the other names. What is quoted stays.
func (n naming) text(src string) string {
	return word.ReplaceAllStringFunc(src, func(w string) string {
		if to, ok := n[w]; ok {
			return to
		}
		return w
	})
}

// file returns the other name of a file.
func (n naming) file(name string) string {
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i+1], name[i+1:]
	}
	if stem, end, ok := strings.Cut(base, "."); ok && (end == "go" || end == "py") {
		return dir + "z" + string(rune('a'+len(stem)%26)) + string(stem[len(stem)-1]) + string(stem[0]) + "." + end
	}
	return name
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
