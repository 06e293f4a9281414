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
	t := tally{}
	t.line(line)
	if t.summed {
		return true
	}
	return strings.HasPrefix(line, "PASS") || strings.HasPrefix(line, "Finished in ") || strings.HasPrefix(line, "Ran ")
}

// line takes in one line of output.
func (t *tally) line(line string) {
	line = strings.TrimSpace(line)
	if len(line) < 4 || len(line) > 400 {
		return
	}
	if t.single(line) || !strings.ContainsAny(line[:1], "=0123456789TtF#ℹ") && !strings.HasPrefix(line, "ℹ") {
		return
	}
	t.summary(line)
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
// pass and fail.
func (t *tally) summary(line string) {
	words := strings.FieldsFunc(line, func(r rune) bool {
		return r == ' ' || r == ',' || r == ';' || r == ':' || r == '=' || r == '(' || r == ')' || r == '\t'
	})
	if len(words) > 24 {
		return
	}
	pass, fail, tests := -1, -1, -1
	for i, w := range words {
		switch strings.ToLower(w) {
		case "passed", "pass", "passing":
			pass = max(pass, beside(words, i))
		case "failed", "fail", "failing", "failures", "failure":
			fail = max(fail, beside(words, i))
		case "tests", "test", "examples", "example":
			tests = max(tests, before(words, i))
		}
	}
	if pass < 0 && fail < 0 || pass < 0 && tests < 0 && len(words) > 4 {
		return
	}
	if pass < 0 && tests >= 0 {
		pass = tests - max(fail, 0)
	}
	t.summed = true
	t.sumPass, t.sumFail = max(t.sumPass, pass), max(t.sumFail, fail)
}

// beside returns the number before words[i], or behind it where the line is "# pass 12"; -1: none.
func beside(words []string, i int) int {
	if n := before(words, i); n >= 0 {
		return n
	}
	if i+1 < len(words) && i <= 1 {
		return natural(words[i+1])
	}
	return -1
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
