package analyst

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A file is what was shown of one.
type file struct {
	repo, sha, path string
	lines           map[int]string
}

// A quote is a line that shows something.
type quote struct {
	file *file
	line int
	says string
}

// A diagnosis is what a rule makes of code.
type diagnosis struct {
	cause  string
	fix    string
	patch  string // empty: it has written none
	tag    string
	quotes []quote
	want   string // a function whose code would show more; empty: nothing would
	sure   bool   // the code says it by itself
}

// A rule looks for one kind of mistake around the line that failed. It returns nil where it sees none.
type rule struct {
	fits   *lazyregexp.Regexp // the class and message of the error
	look   func(t *trouble) *diagnosis
	anyway bool // also in the callers of what failed: what fails itself is in the innermost frame
}

// rules are the kinds of mistakes that the analyst knows, the most telling first.
var rules = []rule{
	{lazyregexp.New(`(?i)index out of range|IndexError|ArrayIndexOutOfBounds|out of bounds|RangeError`), offByOne, false},
	{lazyregexp.New(`assignment to entry in nil map`), nilMap, false},
	{lazyregexp.New(`(?i)nil pointer|NoneType|nil:NilClass|of undefined|of null|NullPointer|is undefined|is null`), missingValue, false},
	{lazyregexp.New(`KeyError|(?i:key not found|missing key|no such key)`), missingKey, false},
	{lazyregexp.New(`(?i)division by zero|divide by zero|ZeroDivision`), division, false},
	{lazyregexp.New(``), swapped, true},
}

// A trouble is a line that failed, and what is known of it.
type trouble struct {
	message string // class and message
	file    *file
	line    int
	others  []*file // that were shown
	caller  *quote  // the line of the next frame, where it was shown
	outer   bool    // another line of the program has failed, which this one has called
}

// diagnose says what is wrong at a line that failed, nil where nothing is to be seen.
func (t *trouble) diagnose() *diagnosis {
	for _, r := range rules {
		if !r.fits.MatchString(t.message) || t.outer && !r.anyway {
			continue
		}
		if d := r.look(t); d != nil {
			return d
		}
	}
	return nil
}

// text returns the line that failed without what is a comment.
func (t *trouble) text() string { return codeOf(t.file.lines[t.line]) }

var comment = lazyregexp.New(`(^|\s)(//|#).*$`)

// codeOf returns a line without a comment at its end.
func codeOf(line string) string { return comment.ReplaceAllString(line, "") }

// above calls do with the lines before the one that failed, nearest first, to the beginning of the function or to most lines, until do returns
// false.
func (t *trouble) above(most int, do func(n int, text string) bool) {
	for n := t.line - 1; n > 0 && t.line-n <= most; n-- {
		text, shown := t.file.lines[n]
		if !shown || !do(n, codeOf(text)) || function.MatchString(text) {
			return
		}
	}
}

// reach is how far above a line its causes are looked for.
const reach = 40

var (
	function = lazyregexp.New(`^\s*(?:async\s+)?(?:export\s+)?(?:func\b|def\b|function\b)`)
	index    = lazyregexp.New(`([A-Za-z_][\w.]*)\[([^\[\]]+)\]`)
	indexed  = lazyregexp.New(`([A-Za-z_][\w.]*(?:\[[^\[\]]+\])+)\[([^\[\]]+)\]`)
	ident    = lazyregexp.New(`[A-Za-z_]\w*`)
)

// indexes returns what is read at an index in a line, and the index; in a[i][j] both.
func indexes(text string) [][]string {
	return append(index.FindAllStringSubmatch(text, -1), indexed.FindAllStringSubmatch(text, -1)...)
}

// offByOne sees an index that runs one too far: by the bound of its loop, or by what is added to it.
func offByOne(t *trouble) *diagnosis {
	for _, m := range indexes(t.text()) {
		list, at := m[1], strings.TrimSpace(m[2])
		if length := regexp.MustCompile(`^(?:len\(` + regexp.QuoteMeta(list) + `\)|` + regexp.QuoteMeta(list) + `\.(?:length|size))$`); length.MatchString(at) {
			return &diagnosis{sure: true, tag: "off-by-one", cause: fmt.Sprintf("%s is read at its own length, one behind its last element", list),
				fix: fmt.Sprintf("read %s at its length minus one, and only where it is not empty", list), quotes: []quote{{t.file, t.line, "the index is the length"}}}
		}
		if d := t.bound(list, at); d != nil {
			return d
		}
	}
	return t.unchecked()
}

// outside is the index that was too large, where the message has it.
var outside = lazyregexp.New(`out of range \[(\d+)\] with length \d+`)

// unchecked sees an index that nobody has held against the length: a number, or a name.
func (t *trouble) unchecked() *diagnosis {
	all := indexes(t.text())
	if n := outside.FindStringSubmatch(t.message); n != nil { // the number that was too large, where the line has it
		if i := slices.IndexFunc(all, func(m []string) bool { return strings.TrimSpace(m[2]) == n[1] }); i >= 0 {
			all = all[i : i+1]
		}
	}
	for _, m := range all {
		list, at := m[1], strings.TrimSpace(m[2])
		if n := outside.FindStringSubmatch(t.message); n != nil && digits.MatchString(at) && n[1] != at || quotedKey.MatchString(at) || fromEnd.MatchString(at) {
			continue
		}
		d := &diagnosis{tag: "index", cause: fmt.Sprintf("%s may be outside of %s, and is used as an index without a check", at, list),
			fix: fmt.Sprintf("look how many elements %s has before it is read at %s", list, at), quotes: []quote{{t.file, t.line, "it is read without a check"}}}
		t.above(reach, func(n int, text string) bool {
			switch i := ident.FindString(at); {
			case i != "" && lets(i, list).MatchString(text):
				d.sure, d.tag, d.cause = true, "off-by-one", fmt.Sprintf("the check lets %s be as large as the length of %s, one behind its last element", at, list)
				d.fix, d.quotes = "use >= in the check", append([]quote{{t.file, n, "the check is one off"}}, d.quotes...)
				return false
			case guards(text, list), i != "" && (guards(text, i) || counts(text, i, list)):
				d = nil
				return false
			}
			return true
		})
		return d
	}
	return nil
}

// counts reports whether a line is a loop that counts a variable along a list.
func counts(text, i, list string) bool {
	return strings.Contains(text, list) && regexp.MustCompile(`\bfor\b(?:.*;)?.*\b`+regexp.QuoteMeta(i)+`\b`).MatchString(text)
}

var (
	digits    = lazyregexp.New(`^\d+$`)
	fromEnd   = lazyregexp.New(`^len\([\w.]+\)\s*-`) // there is one, unless there is none at all
	quotedKey = lazyregexp.New(`^['"]`)
)

// lets matches a check that lets an index be as large as the length of a list.
func lets(i, list string) *regexp.Regexp {
	size := `(?:len\(\s*` + regexp.QuoteMeta(list) + `\s*\)|` + regexp.QuoteMeta(list) + `\.(?:length|size))`
	return regexp.MustCompile(`\bif\b.*\b` + regexp.QuoteMeta(i) + `\s*>\s*` + size + `(?:[^-\w]|$)`)
}

var written = lazyregexp.New(`([A-Za-z_][\w.]*)\[[^\]]+\]\s*[-+*/|&]?=[^=]`)

// nilMap sees a map that is written to and may never have been made.
func nilMap(t *trouble) *diagnosis {
	m := written.FindStringSubmatch(t.text())
	if m == nil {
		return nil
	}
	made := regexp.MustCompile(regexp.QuoteMeta(m[1]) + `\s*:?=\s*(?:make\(|map\[|\w+\{)`)
	safe := false
	t.above(reach, func(_ int, text string) bool {
		safe = made.MatchString(text)
		return !safe
	})
	if safe {
		return nil
	}
	return &diagnosis{sure: true, tag: "nil-map", cause: fmt.Sprintf("%s is written to, and nothing makes it first", m[1]), fix: fmt.Sprintf("make %s where it is nil", m[1]),
		quotes: []quote{{t.file, t.line, "it is written to"}}}
}

// bound sees the loop that counts an index one too far.
func (t *trouble) bound(list, at string) (d *diagnosis) {
	i := ident.FindString(at)
	if i == "" {
		return nil
	}
	q := regexp.QuoteMeta
	size := `(?:len\(\s*` + q(list) + `\s*\)|` + q(list) + `\.(?:length|size))`
	tooFar := regexp.MustCompile(`\b` + q(i) + `\s*<=\s*` + size + `(?:\s*$|[^-\w\s]|\s+[^-\s])` +
		`|\b` + q(i) + `\s+in\s+range\((?:[^()]*,\s*)?` + size + `\s*\+\s*1\s*\)`)
	whole := regexp.MustCompile(`\b` + q(i) + `\s*<=\s*` + size + `\s*-\s*1\b|\b` + q(i) + `\s*<\s*` + size + `(?:\s*$|[^-\w\s]|\s+[^-\s])|\b` + q(i) + `\s+in\s+range\((?:[^()]*,\s*)?` + size + `\s*\)|\b` +
		q(i) + `\s*(?:,\s*\w+\s*)?:=\s*range\s+` + q(list) + `\b`)
	ahead := regexp.MustCompile(`^` + q(i) + `\s*\+\s*1$`)
	t.above(reach, func(n int, text string) bool {
		switch {
		case tooFar.MatchString(text):
			d = &diagnosis{sure: true, tag: "off-by-one", cause: fmt.Sprintf("the loop counts %s up to the length of %s, one behind its last element", i, list),
				fix: "end the loop one earlier", quotes: []quote{{t.file, n, "the bound is one too far"}, {t.file, t.line, "here it is used as an index"}}}
		case whole.MatchString(text) && ahead.MatchString(at):
			d = &diagnosis{sure: true, tag: "off-by-one", cause: fmt.Sprintf("%s[%s] is behind the last element of %s in the last round of the loop", list, at, list),
				fix: "end the loop one earlier, or look at the element before", quotes: []quote{{t.file, n, "the loop runs over all elements"}, {t.file, t.line, "and reads the next one"}}}
		case guards(text, at), guards(text, list) && strings.Contains(text, "len"):
			return false
		}
		return d == nil
	})
	return d
}

var keyName = lazyregexp.New(`(?:KeyError|key not found|missing key|no such key)\W*:?\s*['"]?([\w.-]+)['"]?`)

// assigned is what a line sets, where it sets something: a key that is set need not be there.
var assigned = lazyregexp.New(`^\s*[\w.]+(?:\[[^=]*\])?\s*=\s`)

// asked reports whether a line in front of the one that failed asks for a key by its name.
func (t *trouble) asked(key string) (yes bool) {
	quoted := regexp.MustCompile(`^\s*(?:if|elif|unless)\b.*['"]` + regexp.QuoteMeta(key) + `['"]`)
	t.above(reach, func(_ int, text string) bool {
		yes = quoted.MatchString(text)
		return !yes
	})
	return yes
}

// missingKey sees a key that is read without a check.
func missingKey(t *trouble) *diagnosis {
	m := keyName.FindStringSubmatch(t.message)
	if m == nil {
		return nil
	}
	read := regexp.MustCompile(`\[\s*['"]` + regexp.QuoteMeta(m[1]) + `['"]\s*\]`)
	if t.asked(m[1]) {
		return nil
	}
	if read.MatchString(t.text()) {
		return &diagnosis{sure: true, tag: "missing-key", cause: fmt.Sprintf("the key %s is read as if it were always there", m[1]),
			fix: fmt.Sprintf("say what happens where %s is missing", m[1]), quotes: []quote{{t.file, t.line, "it is read without a check"}}}
	}
	variable := regexp.MustCompile(`\[\s*([A-Za-z_][\w.]*(?:\([^()]*\)|\[[^\[\]]*\])?)\s*\]`)
	v := variable.FindStringSubmatch(assigned.ReplaceAllString(t.text(), ""))
	if v == nil {
		return nil
	}
	guarded := false
	t.above(reach, func(_ int, text string) bool {
		guarded = guarded || guards(text, ident.FindString(v[1])) && strings.Contains(text, " in ")
		return !guarded
	})
	if guarded {
		return nil
	}
	return &diagnosis{sure: true, tag: "missing-key", cause: fmt.Sprintf("%s may be %s, which the table does not have", v[1], m[1]),
		fix: fmt.Sprintf("say what happens where the table does not have %s", v[1]), quotes: []quote{{t.file, t.line, "it is read without a check"}}}
}

var divides = lazyregexp.New(`(?:/|//|%)\s*(?:float|int|len|Decimal|float64)?\(?\s*([A-Za-z_][\w.]*)`)

// division sees a number that may be zero and is divided by.
func division(t *trouble) *diagnosis {
	m := divides.FindStringSubmatch(t.text())
	if m == nil || guards(t.text(), m[1]) {
		return nil
	}
	guarded := false
	t.above(reach, func(_ int, text string) bool {
		guarded = guarded || guards(text, m[1])
		return !guarded
	})
	if guarded {
		return nil
	}
	return &diagnosis{sure: true, tag: "division", cause: fmt.Sprintf("%s may be zero, and is divided by without a check", m[1]),
		fix: fmt.Sprintf("say what the result is where %s is zero", m[1]), quotes: []quote{{t.file, t.line, "the division"}}}
}

// guards reports whether a line asks whether something is there.
func guards(text, v string) bool {
	if v == "" {
		return false
	}
	at := regexp.MustCompile(`^\s*(?:\}?\s*else\s+)?(?:if|elif|unless|while|assert|for)\b.*\b` + regexp.QuoteMeta(v) + `\b`)
	loop := regexp.MustCompile(`^\s*(?:for|while)\b`)
	return at.MatchString(text) && !loop.MatchString(text) || strings.Contains(text, v+" ?") || strings.Contains(text, v+"?.")
}

// files returns all files that were shown, the one that failed first.
func (t *trouble) files() []*file { return append([]*file{t.file}, t.others...) }

// numbers returns the numbers of the lines that were shown, in order.
func (f *file) numbers() []int {
	out := make([]int, 0, len(f.lines))
	for n := range f.lines {
		out = append(out, n)
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
