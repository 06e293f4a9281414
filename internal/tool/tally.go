package tool

import (
	"strconv"
	"strings"
)

// tally gathers the counts and the names of failing tests from the output of a test run.
type tally struct {
	passed, failed   int // counted from lines of single tests (go)
	sumPass, sumFail int // from the runner's own summary, which wins
	summed           bool
	failing          []string
}

// IsSummary reports whether a line is a test runner's summary: what a shortened test result keeps
// even when everything passed.
func IsSummary(line string) bool {
	return (&tally{}).line(line) || strings.HasPrefix(line, "PASS") || strings.HasPrefix(line, "Finished in ") || strings.HasPrefix(line, "Ran ")
}

// line takes in one line of output and reports whether it is a runner's summary.
func (t *tally) line(line string) bool {
	line = strings.TrimSpace(line)
	if len(line) < 4 || len(line) > 400 || t.single(line) {
		return false
	}
	return (strings.ContainsAny(line[:1], "=0123456789TtFEOPR#") || strings.HasPrefix(line, "ℹ")) && t.summary(line)
}

// single takes in the line of one test.
func (t *tally) single(line string) bool {
	switch {
	case strings.HasPrefix(line, "--- PASS: "):
		t.passed++
	case strings.HasPrefix(line, "--- FAIL: "):
		t.failed++
		t.name(line[len("--- FAIL: "):])
	case strings.HasPrefix(line, "FAILED ") && strings.Contains(line, "::"):
		t.name(line[len("FAILED "):])
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"):
		t.name(line[len("test "):])
	case strings.HasPrefix(line, "not ok "):
		t.failed++
	case strings.HasPrefix(line, "(fail) "):
		t.phrase(line[len("(fail) "):])
	case strings.HasPrefix(line, "✗ ") || strings.HasPrefix(line, "✕ "):
		t.phrase(line[len("✗ "):])
	case exUnit(line):
		_, name, _ := strings.Cut(line, ") test ")
		t.phrase(name)
	default:
		return false
	}
	return true
}

// exUnit recognises "  1) test adds numbers (MathTest)".
func exUnit(line string) bool {
	i := strings.Index(line, ") test ")
	return i > 0 && i < 5 && isNumber(line[:i])
}

// name takes in a failing test whose name has no blanks.
func (t *tally) name(rest string) {
	if f := strings.Fields(rest); len(f) > 0 && len(t.failing) < maxFailing {
		t.failing = append(t.failing, f[0])
	}
}

// phrase takes in a failing test whose name is a sentence; a time in brackets is left out.
func (t *tally) phrase(rest string) {
	if i := strings.LastIndex(rest, " ["); i > 0 {
		rest = rest[:i]
	}
	if len(t.failing) < maxFailing && rest != "" {
		t.failing = append(t.failing, clip(rest, 80))
	}
}

// summary takes in "3 failed, 120 passed", "12 tests, 1 failure", "Tests: 2 failed, 5 passed, 7
// total", "test result: ok. 5 passed; 0 failed" and the like: numbers before or after the words
// pass and fail. It reports whether the line is one.
func (t *tally) summary(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,;:=()|/\t.", r) })
	if len(words) > 24 {
		return false
	}
	pass, fail, tests := -1, -1, -1
	for i, w := range words {
		switch strings.ToLower(w) {
		case "passed", "pass", "passing":
			pass = max(pass, beside(line, words, i))
			if p, all := ofTests(words[:i]); p >= 0 {
				pass, fail = p, max(fail, all-p)
			}
		case "failed", "fail", "failing", "failures", "failure":
			fail = max(fail, beside(line, words, i))
		case "error", "errors":
			if n := beside(line, words, i); pass >= 0 || tests >= 0 {
				fail = max(fail, 0) + max(n, 0)
			}
		case "tests", "test", "examples", "example", "specs":
			switch tests = max(tests, before(words, i)); {
			case tests < 0 && len(words) > i+2 && words[i+1] == "run":
				tests = natural(words[i+2])
			case tests < 0 && len(words) > i+1:
				tests = natural(words[i+1])
			}
		}
	}
	if pass < 0 && fail < 0 || pass < 0 && tests < 0 && len(words) > 4 {
		return false
	}
	if pass < 0 && tests >= 0 {
		pass = tests - max(fail, 0)
	}
	t.summed = true
	t.sumPass, t.sumFail = max(t.sumPass, pass), max(t.sumFail, fail)
	return true
}

// ofTests reads the number of tests at the end of words, "46 tests" or "43 of 46 tests"; -1: none.
func ofTests(words []string) (passed, all int) {
	n := len(words) - 1
	if n < 1 || !hasWord("test tests specs examples", words[n]) || natural(words[n-1]) < 0 {
		return -1, -1
	}
	all = natural(words[n-1])
	if n > 2 && words[n-2] == "of" && natural(words[n-3]) >= 0 {
		return natural(words[n-3]), all
	}
	return all, all
}

// beside returns the number before words[i], or behind it where the line is "# pass 12" or "Failures: 0"; -1: none.
func beside(line string, words []string, i int) int {
	behind := -1
	if i+1 < len(words) {
		behind = natural(words[i+1])
	}
	if strings.Contains(line, words[i]+":") {
		return behind
	}
	if n := before(words, i); n >= 0 || i > 1 {
		return n
	}
	return behind
}

func before(words []string, i int) int {
	if i == 0 {
		return -1
	}
	return natural(words[i-1])
}

func natural(w string) int {
	if n, err := strconv.Atoi(w); err == nil && n >= 0 {
		return n
	}
	return -1
}

// total returns the counts and the failing tests.
func (t *tally) total() (passed, failed int, failing []string) {
	if t.summed {
		return t.sumPass, t.sumFail, t.failing
	}
	return t.passed, t.failed, t.failing
}
