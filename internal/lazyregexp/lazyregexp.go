// Package lazyregexp has regular expressions that are compiled when they are first used. A program whose commands run for
// milliseconds must not compile, each time it starts, the hundred that other commands need.
package lazyregexp

import (
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// A Regexp is a regular expression. It is safe for concurrent use. Its methods are those of [regexp.Regexp]. A text that has
// none of the words of which each match needs one is told apart without it.
type Regexp struct {
	text     string
	compiled func() *regexp.Regexp
	needed   func() *filter
}

// inTest reports whether this process runs tests. A test's own program that is started under another name, to play the program
// that is tested, starts as fast as that.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns the regular expression of a text that must be valid. In tests it is compiled at once, so that a mistake is
// found by whatever test there is.
func New(text string) *Regexp {
	r := &Regexp{
		text,
		sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) }),
		sync.OnceValue(func() *filter { return filterOf(text) }),
	}
	if inTest {
		r.compiled()
	}
	return r
}

// may reports whether the expression may match a text.
func (r *Regexp) may(s string) bool { return r.needed().passes(s) }

// MayMatch returns what reports, in one pass over a text, whether one of several expressions may match there: where it
// reports false, none of them does.
func MayMatch(rs ...*Regexp) func(s string) bool {
	all := sync.OnceValue(func() *filter {
		f := &filter{}
		var words []string
		for _, r := range rs {
			re, err := syntax.Parse(r.text, syntax.Perl)
			if err != nil {
				return nil
			}
			some := f.needs(re).some
			if !useful(some) {
				return nil
			}
			words = append(words, some...)
		}
		slices.Sort(words)
		f.fill(slices.Compact(words))
		return f
	})
	return func(s string) bool { return all().passes(s) }
}

// String returns the text that it was made of.
func (r *Regexp) String() string { return r.text }

// SubexpNames is [regexp.Regexp.SubexpNames].
func (r *Regexp) SubexpNames() []string { return r.compiled().SubexpNames() }

// MatchString is [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool { return r.may(s) && r.compiled().MatchString(s) }

// FindString is [regexp.Regexp.FindString].
func (r *Regexp) FindString(s string) string {
	if !r.may(s) {
		return ""
	}
	return r.compiled().FindString(s)
}

// FindStringIndex is [regexp.Regexp.FindStringIndex].
func (r *Regexp) FindStringIndex(s string) []int {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindStringIndex(s)
}

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is [regexp.Regexp.FindStringSubmatchIndex].
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindStringSubmatchIndex(s)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(s, with string) string {
	if !r.may(s) {
		return s
	}
	return r.compiled().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	if !r.may(s) {
		return s
	}
	return r.compiled().ReplaceAllStringFunc(s, with)
}

// FindAllString is [regexp.Regexp.FindAllString].
func (r *Regexp) FindAllString(s string, n int) []string {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindAllString(s, n)
}

// Split is [regexp.Regexp.Split].
func (r *Regexp) Split(s string, n int) []string {
	if n != 0 && !r.may(s) {
		return []string{s}
	}
	return r.compiled().Split(s, n)
}

// FindAllStringIndex is [regexp.Regexp.FindAllStringIndex].
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is [regexp.Regexp.FindAllStringSubmatchIndex].
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !r.may(s) {
		return nil
	}
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}
