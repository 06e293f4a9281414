package analyst

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	calls      = lazyregexp.New(`([A-Za-z_]\w*)\(([^()]+(?:\([^()]*\)[^()]*)*)\)`)
	definition = `(?:\bfunc\s+(?:\([^)]*\)\s*)?|\bdef\s+|\bfunction\s+)`
)

// swapped sees a call whose arguments have the names of each other's parameters.
func swapped(t *trouble) *diagnosis {
	for _, m := range calls.FindAllStringSubmatch(t.text(), -1) {
		args := strings.Split(m[2], ",")
		if len(args) < 2 || function.MatchString(t.text()) {
			continue
		}
		def := regexp.MustCompile(definition + regexp.QuoteMeta(m[1]) + `\s*\(([^)]*)\)`)
		for _, f := range t.files() {
			for _, n := range f.numbers() {
				p := def.FindStringSubmatch(f.lines[n])
				if p == nil {
					continue
				}
				if i, j, ok := crossed(args, parameters(p[1])); ok {
					return &diagnosis{sure: true, tag: "swapped-arguments", cause: fmt.Sprintf("%s is called with %s and %s the wrong way round", m[1], strings.TrimSpace(args[i]), strings.TrimSpace(args[j])),
						fix: "swap the two arguments", quotes: []quote{{t.file, t.line, "the order of the call"}, {f, n, "the order that is wanted"}}}
				}
			}
		}
	}
	return nil
}

// parameters returns the names of parameters as a definition has them.
func parameters(list string) (names []string) {
	for p := range strings.SplitSeq(list, ",") {
		if name := ident.FindString(p); name != "" && name != "self" && name != "cls" {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// crossed returns two arguments of which each is named as the other's parameter.
func crossed(args, params []string) (int, int, bool) {
	named := func(arg, param string) bool {
		words := ident.FindAllString(arg, -1)
		return len(words) > 0 && param != "" && strings.EqualFold(words[len(words)-1], param)
	}
	for i := range min(len(args), len(params)) {
		for j := i + 1; j < min(len(args), len(params)); j++ {
			if params[i] != params[j] && named(args[i], params[j]) && named(args[j], params[i]) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}
