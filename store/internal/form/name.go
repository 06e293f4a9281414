package form

import "strings"

// BeginsWith reports whether a name begins as LIKE has it: the case of A to Z does not count.
func BeginsWith(name, with string) bool {
	return len(name) >= len(with) && foldASCII(name[:len(with)]) == foldASCII(with)
}

// foldASCII returns s with the letters A to Z in small.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// EscapeLike returns s with the wildcards of LIKE taken literally.
func EscapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
