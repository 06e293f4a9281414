package tool

import "strings"

// IsError reports whether a line of output names an error: what the output of a command must not
// lose. It goes by the words of compilers, test runners, shells and runtimes, not by language.
func IsError(line string) bool {
	line = strings.TrimSpace(line)
	if len(line) < 4 || len(line) > 4000 {
		return false
	}
	if errorStart(line) || compilerLine(line) {
		return true
	}
	for i := 0; i < len(line); i++ {
		if errorAt(line, i) && !negated(line[:i]) {
			return true
		}
	}
	return false
}

// errorAt reports whether an error phrase starts at line[i], or the name of an exception ends there.
func errorAt(line string, i int) bool {
	c := line[i]
	if c == ':' {
		return strings.HasSuffix(line[:i], "Error") || strings.HasSuffix(line[:i], "Exception")
	}
	if !letter(c) {
		return false
	}
	// After a quote it is the text of a message in source code, not a message.
	return (i == 0 || !letter(line[i-1]) && line[i-1] != '"') && errorWord(line[i:])
}

// errorStart knows the marks that test runners and compilers put at the start of a line.
func errorStart(line string) bool {
	switch line[0] {
	case 'F':
		return strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "FATAL")
	case '-':
		return strings.HasPrefix(line, "--- FAIL")
	case 'n':
		return strings.HasPrefix(line, "not ok ") || strings.HasPrefix(line, "npm error") ||
			strings.HasPrefix(line, "npm ERR!")
	case 'E':
		return strings.HasPrefix(line, "E   ") || strings.HasPrefix(line, "ERROR")
	case 0xE2: // check marks and crosses
		return strings.HasPrefix(line, "✗") || strings.HasPrefix(line, "✘") || strings.HasPrefix(line, "✖") ||
			strings.HasPrefix(line, "× ") || strings.HasPrefix(line, "❌")
	case 0xC3:
		return strings.HasPrefix(line, "× ")
	}
	return false
}

// errorPhrases begin the name of an error anywhere in a line, in lower case and by their first letter,
// counted from a.
var errorPhrases = [26][]string{
	0:  {"assertion failed", "assertion with", "assertionerror"},
	2:  {"cannot find", "cannot use", "can't cd", "command not found", "could not ", "compilation error"},
	4:  {"error:", "error[", "error ts", "error -", "errors:", "exception:", "exception in"},
	5:  {"fatal:", "failed:", "failure:", "failed to "},
	10: {"keyerror", "killed"},
	13: {"no such file or directory", "not found in file"},
	15: {"panic:", "panicked at", "permission denied"},
	17: {"referenceerror"},
	18: {"segmentation fault", "syntaxerror", "syntax error"},
	19: {"traceback (most recent", "typeerror", "timed out", "tests failed"},
	20: {"undefined:", "undefined reference", "undefined symbol", "unexpected token", "unable to "},
	21: {"valueerror"},
}

// errorWord reports whether s, which starts with a letter, starts with an error phrase in any case.
func errorWord(s string) bool {
	for _, p := range errorPhrases[s[0]|0x20-'a'] {
		if hasPrefixFold(s, p) {
			return true
		}
	}
	return false
}

// negated reports whether the text before an error word negates it: "0 errors:", "no error:".
func negated(before string) bool {
	before = strings.TrimRight(before, " ")
	return strings.HasSuffix(before, " 0") || before == "0" || hasSuffixFold(before, "no") && len(before) <= 3
}

// compilerLine reports whether a line starts with file:line:column: or file(line,column):, as
// compilers and linters write their findings.
func compilerLine(line string) bool {
	i := strings.IndexAny(line, ":( ")
	if i <= 0 || line[i] == ' ' || !strings.Contains(line[:i], ".") {
		return false
	}
	closing := byte(':')
	sep := byte(':')
	if line[i] == '(' {
		sep, closing = ',', ')'
	}
	rest, ok := number(line[i+1:], sep)
	if !ok {
		return false
	}
	rest, ok = number(rest, closing)
	return ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ":"))
}

// number skips digits and the separator after them.
func number(s string, sep byte) (string, bool) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n == 0 || n == len(s) || s[n] != sep {
		return s, false
	}
	return s[n+1:], true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// hasPrefixFold reports whether s starts with the lower-case ASCII prefix p in any case.
func hasPrefixFold(s, p string) bool {
	if len(s) < len(p) {
		return false
	}
	for i := 0; i < len(p); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != p[i] {
			return false
		}
	}
	return true
}

func hasSuffixFold(s, p string) bool {
	return len(s) >= len(p) && hasPrefixFold(s[len(s)-len(p):], p)
}
