package ruler

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// flags finds long options: two hyphens and at least three characters.
func flags(s string, yield func(string, Kind)) {
	for i := 0; ; {
		k := strings.Index(s[i:], "--")
		if k < 0 {
			return
		}
		i += k
		end := i + 2
		if !wordBefore(s, i) && is(s, end, lower) {
			for is(s, end, lower|digit) || end < len(s) && s[end] == '-' {
				end++
			}
		}
		if end-i < 5 {
			i++
			continue
		}
		yield(s[i:end], Flag)
		i = end
	}
}

// numbers finds versions (1.2, v1.2.3), tickets (#12) and numbers of four digits and more.
func numbers(s string, yield func(string, Kind)) {
	for i := begin(s, 0, figure); i < len(s); i = begin(s, i, figure) {
		end := number(s, i)
		if end < 0 {
			i += step(s, i)
			continue
		}
		yield(s[i:end], Number)
		i = end
	}
}

// number returns the end of the number at i, or -1.
func number(s string, i int) int {
	if s[i] == '#' {
		end, n := digits(s, i+1)
		if n >= 2 && wordAt(s, end) == 0 {
			return end
		}
		return -1
	}
	if s[i] != 'v' && !digitAt(s, i) || wordBefore(s, i) || byteBefore(s, i, ".") {
		return -1
	}
	if end := version(s, i); end > 0 {
		return end
	}
	end, n := digits(s, i)
	if n < 4 || byteBefore(s, i, "-") || wordAt(s, end) > 0 || end < len(s) && s[end] == '.' {
		return -1
	}
	return end
}

// version returns the end of two to four numbers joined by dots, with or without a v before them; -1 when
// there are none.
func version(s string, i int) int {
	if s[i] == 'v' {
		i++
	}
	i, n := digits(s, i)
	out := -1
	for k := 0; n > 0 && k < 3 && i < len(s) && s[i] == '.'; k++ {
		if i, n = digits(s, i+1); n > 0 && wordAt(s, i) == 0 {
			out = i
		}
	}
	return out
}

// digits returns the end of the digits of any script from i on, and how many they are.
func digits(s string, i int) (end, n int) {
	for i < len(s) && digitAt(s, i) {
		i += step(s, i)
		n++
	}
	return i, n
}

func digitAt(s string, i int) bool {
	if s[i] < utf8.RuneSelf {
		return class[s[i]]&digit != 0
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsDigit(r)
}
