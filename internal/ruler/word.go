package ruler

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words finds hashes, names of errors and identifiers: what begins where a word begins.
func words(s string, yield func(string, Kind)) {
	hashes, idents, undotted := 0, 0, 0 // where the last ones end, and up to where no names joined by dots begin
	for i := begin(s, 0, word); i < len(s); i = begin(s, i, word) {
		if wordAt(s, i) == 0 {
			i += step(s, i)
			continue
		}
		end := wordEnd(s, i)
		if i >= hashes {
			if stop := hash(s, i, end); stop > 0 {
				yield(s[i:stop], Hash)
				hashes = stop
			}
		}
		if errorName(s[i:end]) {
			yield(s[i:end], Error)
		}
		if i >= idents {
			stop := -1
			if i >= undotted {
				stop, undotted = dotted(s, i, end)
			}
			if stop < 0 && identifier(s[i:end]) {
				stop = end
			}
			if stop > 0 {
				yield(s[i:stop], Ident)
				idents = stop
			}
		}
		i = end
	}
}

// hash returns the end of the hash that the word from i to end is or begins, or -1.
func hash(s string, i, end int) int {
	if w := s[i:end]; len(w) >= 7 && len(w) <= 40 && run(w, 0, hex) == len(w) &&
		strings.ContainsAny(w, "0123456789") && strings.ContainsAny(w, "abcdef") {
		return end
	}
	return uuid(s, i)
}

// uuid returns the end of the UUID at i, or -1.
func uuid(s string, i int) int {
	for k, n := range [...]int{8, 4, 4, 4, 12} {
		if k > 0 {
			if i >= len(s) || s[i] != '-' {
				return -1
			}
			i++
		}
		if run(s, i, hex) < i+n {
			return -1
		}
		i += n
	}
	if wordAt(s, i) > 0 {
		return -1
	}
	return i
}

// errorName reports whether a word names an error: ParseError, ERR_TIMEOUT, ENOENT, E1234.
func errorName(w string) bool {
	if !is(w, 0, upper) {
		return false
	}
	if strings.HasSuffix(w[1:], "Error") || strings.HasSuffix(w[1:], "Exception") {
		return true
	}
	if w[0] != 'E' {
		return false
	}
	if code, ok := strings.CutPrefix(w, "ERR_"); ok && code != "" &&
		strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return true
	}
	if len(w) >= 5 && run(w, 0, upper) == len(w) {
		return true
	}
	digits := 0
	for _, r := range w[1:] {
		if !unicode.IsDigit(r) {
			return false
		}
		digits++
	}
	return digits >= 3 && digits <= 5
}

// identifier reports whether a word is one name of several parts.
func identifier(w string) bool {
	return run(w, 0, lower) < len(w) && (snake(w) || camel(w) || pascal(w) || constant(w))
}

// dotted returns the end of names joined by dots, of which one behind the first has two characters at
// least; -1 when there is no such name. Then none begins before tried either: what follows is the same.
func dotted(s string, i, end int) (stop, tried int) {
	stop = -1
	for is(s, i, lower|upper) || i < len(s) && s[i] == '_' {
		if end-i > 1 && stop >= 0 && utf8.RuneCountInString(s[i:end]) > 1 {
			stop = end
		}
		if end >= len(s) || s[end] != '.' {
			break
		}
		stop = max(stop, 0)
		i = end + 1
		end = wordEnd(s, i)
	}
	if stop == 0 {
		return -1, i
	}
	return stop, 0
}

// snake reports whether w is letters, then parts of letters and digits, joined by single underscores.
func snake(w string) bool {
	i := run(w, 0, lower|upper)
	return i > 0 && joined(w, i, lower|upper|digit)
}

// constant reports whether w is capitals and digits joined by single underscores: MAX_INT.
func constant(w string) bool {
	i := run(w, 0, upper|digit)
	return i > 1 && is(w, 0, upper) && joined(w, i, upper|digit)
}

// joined reports whether from i on w is one or more underscores with characters of a class behind each.
func joined(w string, i int, c uint8) bool {
	if i >= len(w) {
		return false
	}
	for i < len(w) {
		if w[i] != '_' {
			return false
		}
		end := run(w, i+1, c)
		if end == i+1 {
			return false
		}
		i = end
	}
	return true
}

// camel reports whether w is small letters, then one or more capitals with small letters and digits.
func camel(w string) bool {
	i := run(w, 0, lower)
	return i > 0 && i < len(w) && humps(w, i, 0) > 0
}

// pascal reports whether w is two or more capitals with small letters or digits behind each.
func pascal(w string) bool { return humps(w, 0, 1) > 1 }

// humps returns how many capitals, with at least so many small letters and digits behind each, w is made of
// from i on; 0 when of something else.
func humps(w string, i, least int) (n int) {
	for i < len(w) {
		if !is(w, i, upper) {
			return 0
		}
		end := run(w, i+1, lower|digit)
		if end-i-1 < least {
			return 0
		}
		i = end
		n++
	}
	return n
}
