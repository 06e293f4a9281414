package analyst

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	attribute = lazyregexp.New(`(?:attribute|reading|method|property) ['"\x60](\w+)['"\x60]`)
	receivers = lazyregexp.New(`([A-Za-z_]\w*)(\.|\[)`)
)

// missingValue sees a value that may not be there, and comes from where it may not be.
func missingValue(t *trouble) *diagnosis {
	name := ""
	if m := attribute.FindStringSubmatch(t.message); m != nil {
		name = m[1]
	}
	if d := t.chained(name); d != nil {
		return d
	}
	var tried []string
	for _, m := range receivers.FindAllStringSubmatchIndex(t.text(), -1) {
		v, rest := t.text()[m[2]:m[3]], t.text()[m[5]:]
		if v == "self" || v == "this" {
			continue
		}
		if name != "" && !strings.HasPrefix(rest, name) && t.text()[m[4]:m[5]] == "." || slices.Contains(tried, v) {
			continue
		}
		tried = append(tried, v)
		if d := t.origin(v); d != nil {
			return d
		}
		if d := t.handed(v); d != nil {
			return d
		}
	}
	return t.member()
}

var own = lazyregexp.New(`\b((?:self|this)\.\w+)\s*[-+*/.\[]`)

// member sees a member of an object that is used without a check.
func (t *trouble) member() *diagnosis {
	m := own.FindStringSubmatch(t.text())
	if m == nil || !strings.Contains(t.message, "None") && !strings.Contains(t.message, "undefined") && !strings.Contains(t.message, "null") {
		return nil
	}
	checked := false
	t.above(reach, func(_ int, text string) bool {
		checked = checked || guards(text, m[1])
		return !checked
	})
	if checked {
		return nil
	}
	return &diagnosis{tag: "missing-value", cause: fmt.Sprintf("%s may be missing, and is used without a check", m[1]), fix: fmt.Sprintf("look whether %s is there before it is used", m[1]),
		quotes: []quote{{t.file, t.line, "here it is used without a check"}}}
}

// handed sees a parameter that the caller may set to nothing: it is used without a check here, and handed over without one there.
func (t *trouble) handed(v string) *diagnosis {
	if t.caller == nil {
		return nil
	}
	name, defined, checked := "", 0, false
	t.above(reach, func(n int, text string) bool {
		checked = checked || guards(text, v)
		if m := parameter(v).FindStringSubmatch(text); m != nil {
			name, defined = m[1], n
		}
		return true
	})
	if name == "" || checked {
		return nil
	}
	there := codeOf(t.caller.file.lines[t.caller.line])
	if !strings.Contains(there, name+"(") || t.guardedThere(there, name) {
		return nil
	}
	return &diagnosis{tag: "missing-value", cause: fmt.Sprintf("%s takes %s as if it were always there, and its caller hands over what may be missing", name, v),
		fix: fmt.Sprintf("look whether %s is there before it is used", v), patch: mend(t.file, defined), quotes: []quote{{t.file, t.line, "here it is used without a check"}, {t.caller.file, t.caller.line, "here it is handed over"}}}
}

// guardedThere reports whether a caller looks at what it hands to a function before it does.
func (t *trouble) guardedThere(line, name string) bool {
	_, arguments, _ := strings.Cut(line, name+"(")
	at := &trouble{file: t.caller.file, line: t.caller.line}
	for _, v := range ident.FindAllString(arguments, -1) {
		guarded := false
		at.above(reach, func(_ int, text string) bool {
			guarded = guards(text, v)
			return !guarded
		})
		if guarded {
			return true
		}
	}
	return false
}

// parameter matches the definition of a function that has a parameter, whose name it captures.
func parameter(v string) *regexp.Regexp {
	return regexp.MustCompile(`(?:\bfunc\s+(?:\([^)]*\)\s*)?|\bdef\s+|\bfunction\s+)([A-Za-z_]\w*)\s*\([^)]*\b` + regexp.QuoteMeta(v) + `\b`)
}

var lookups = `(?:get|find|first|lookup|fetch|search|match|pop|detect|find_by|querySelector|Lookup|Find|Get|First|By\w+)`

var chain = lazyregexp.New(`([A-Za-z_][\w.]*\.` + lookups + `\([^()]*\))\.(\w+)`)

// chained sees a value that is used as soon as it was looked up.
func (t *trouble) chained(name string) *diagnosis {
	m := chain.FindStringSubmatch(t.text())
	if m == nil || name != "" && m[2] != name {
		return nil
	}
	return &diagnosis{sure: true, tag: "missing-value", cause: fmt.Sprintf("%s finds nothing in some cases, and what it returns is used at once", m[1]),
		fix: fmt.Sprintf("look at what %s returns before it is used", m[1]), quotes: []quote{{t.file, t.line, "there is no check between the two"}}}
}

// origin sees where a value was last set from something that may not be there, without a check since then.
func (t *trouble) origin(v string) (d *diagnosis) {
	q := regexp.QuoteMeta(v)
	set := regexp.MustCompile(`(?:^|[\s(])(?:const\s+|let\s+|var\s+)?` + q + `(?:\s*,\s*\w+)?\s*:?=\s*(.+)$`)
	t.above(reach, func(n int, text string) bool {
		if guards(text, v) {
			return false
		}
		m := set.FindStringSubmatch(text)
		if m == nil {
			return true
		}
		d = t.maybe(v, strings.TrimSpace(m[1]), n)
		return false
	})
	return d
}

var (
	nothing  = lazyregexp.New(`^(?:None|nil|null|undefined)\b`)
	called   = lazyregexp.New(`(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w*)\(`)
	member   = lazyregexp.New(`^[A-Za-z_]\w*(?:\.\w+)+$`)
	mapIndex = lazyregexp.New(`^[A-Za-z_][\w.]*\[[^\]]+\]\s*$`)
)

// maybe says whether an expression may be nothing.
func (t *trouble) maybe(v, from string, n int) *diagnosis {
	use := quote{t.file, t.line, "here it is used without a check"}
	d := &diagnosis{tag: "missing-value", fix: fmt.Sprintf("look whether %s is there before it is used", v)}
	switch m := called.FindStringSubmatch(from); {
	case nothing.MatchString(from):
		d.sure, d.cause = true, fmt.Sprintf("%s is set to nothing and used before it is set to something else", v)
	case mapIndex.MatchString(from):
		d.sure, d.cause = true, fmt.Sprintf("%s is read from a map that may not have it", v)
	case m != nil && regexp.MustCompile(`^`+lookups+`$`).MatchString(m[2]):
		d.sure, d.cause = true, fmt.Sprintf("%s comes from %s, which finds nothing in some cases", v, m[2])
	case m != nil:
		d.want, d.cause = m[2], fmt.Sprintf("%s comes from %s, which may return nothing", v, m[2])
	case member.MatchString(from):
		d.cause = fmt.Sprintf("%s is read from %s, which may not be set", v, from)
	default:
		return nil
	}
	d.quotes = []quote{{t.file, n, "where it comes from"}, use}
	if d.want != "" {
		return t.returns(d)
	}
	return d
}

var returnsNothing = lazyregexp.New(`^\s*return\s+(?:None|nil|null|undefined)(?:\s*,\s*nil)?\s*;?\s*$`)

// returns looks in what was shown for the function that a diagnosis wants, and for how it returns nothing.
func (t *trouble) returns(d *diagnosis) *diagnosis {
	def := regexp.MustCompile(`(?:\bfunc\s+(?:\([^)]*\)\s*)?|\bdef\s+|\bfunction\s+)` + regexp.QuoteMeta(d.want) + `\s*\(`)
	for _, f := range t.files() {
		for _, n := range f.numbers() {
			if !def.MatchString(f.lines[n]) {
				continue
			}
			_, body := f.lines[n+1]
			for m := n + 1; m < n+60; m++ {
				text, shown := f.lines[m]
				if !shown || function.MatchString(text) {
					break
				}
				if returnsNothing.MatchString(codeOf(text)) {
					d.sure, d.want = true, ""
					d.quotes = append(d.quotes, quote{f, m, "it returns nothing here"})
					return d
				}
			}
			if body { // it was read, and returns nothing nowhere
				return nil
			}
		}
	}
	return d
}
