package tool

import "strings"

// Defines returns the name that a line of source defines, empty when it defines none. It is sure of
// functions, types and modules; a constant, a variable or an export may be a local of no interest.
func Defines(line string) (name string, sure bool) {
	rest := strings.TrimLeft(line, " \t0123456789→:|-+.")
	role := noDefiner
	for {
		word, after := cutWord(rest)
		r := definer(word)
		if r == noDefiner {
			break
		}
		role = max(role, r)
		rest = strings.TrimLeft(after, " \t")
		if strings.HasPrefix(rest, "(") { // the receiver of a method
			_, rest, _ = strings.Cut(rest, ")")
			rest = strings.TrimLeft(rest, " \t")
		}
	}
	word, _ := cutWord(rest)
	if role == noDefiner || len(word) < 4 || len(word) > 60 {
		return "", false
	}
	return word, role == strongDefiner
}

// cutWord splits off the identifier, dots included, that s starts with.
func cutWord(s string) (word, rest string) {
	n := 0
	for n < len(s) && (wordByte(s[n]) || s[n] == '.' && n > 0) {
		n++
	}
	return strings.TrimRight(s[:n], "."), s[n:]
}

func wordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// How much a word before a name says that the name is defined here.
const (
	noDefiner     = iota
	weakDefiner   // may also be a local variable, or say how something is defined
	strongDefiner // a function, a type, a module
)

// definer judges a word by the common languages.
func definer(word string) int {
	switch word {
	case "func", "def", "class", "type", "interface", "struct", "enum", "trait", "impl", "fn", "function", "defmodule", "defp", "defmacro", "module", "namespace", "record":
		return strongDefiner
	case "const", "var", "let", "export", "default", "async", "public", "private", "protected", "static", "pub", "abstract", "object", "test", "describe", "final", "extern", "macro":
		return weakDefiner
	}
	return noDefiner
}

// Routine reports whether a line only says that a test went well or is about to start.
func Routine(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, p := range [...]string{"ok  \t", "?   \t", "=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- PASS", "PASS"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}
