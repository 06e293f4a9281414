package secret

import "strings"

// privateKeys looks for keys in PEM form, of OpenPGP too: from the first line to the last, or as far as it
// looks like a key where the last line was cut off.
func (s *scanner) privateKeys() {
	for at := 0; ; {
		i := strings.Index(s.text[at:], "PRIVATE KEY")
		if i < 0 {
			return
		}
		i += at
		at = i + len("PRIVATE KEY")
		from := max(0, i-40)
		begin := strings.LastIndex(s.text[from:i], "-----BEGIN ")
		s.work += i - from
		if begin < 0 {
			continue
		}
		head := strings.TrimPrefix(s.text[at:], " BLOCK")
		if body, ok := strings.CutPrefix(head, "-----"); ok {
			n := keyLength(body)
			s.work += n
			if at = len(s.text) - len(body) + n; n > 0 {
				s.add(from+begin, at, "private-key")
			}
		}
	}
}

// Lengths of what a key is made of.
const (
	wholeLine  = 30  // at least, of every line but the last
	lineNumber = 6   // at most
	headLines  = 500 // at most, of lines such as "Version: 1" together
)

// keyLength returns the number of bytes of text that are the rest of a key whose first line precedes it, or
// 0. Line numbers, quotes and the signs of a diff may surround its lines.
func keyLength(text string) (end int) {
	for i := keyHeads(text); ; {
		i += decoration(text[i:])
		if n := lastLine(text[i:]); n > 0 {
			if end > 0 {
				end = i + n
			}
			return end
		}
		n := wordLength(text[i:], base64)
		switch {
		case n > 0 && n <= lineNumber && allDigits(text[i:i+n]):
			i += n
		case n >= wholeLine:
			i += n
			end = i
		case n > 0 && end > 0: // the last line of the key, or what follows one that was cut off
			k := i + n + decoration(text[i+n:])
			if m := lastLine(text[k:]); m > 0 {
				return k + m
			}
			if !allLetters(text[i : i+n]) {
				return i + n
			}
			return end
		default:
			return end
		}
	}
}

// keyHeads returns the length of the lines before a key that say how it is made: "Proc-Type: 4,ENCRYPTED".
func keyHeads(text string) (n int) {
	for {
		at := n + decoration(text[n:])
		name := wordLength(text[at:], token)
		rest := text[at+name : max(at+name, min(len(text), headLines))]
		if name == 0 || !strings.HasPrefix(rest, ": ") {
			return n
		}
		end := strings.IndexAny(rest, "\n\\")
		if end < 0 {
			return n
		}
		n = at + name + end
	}
}

// lastLine returns the length of the line that ends a key, 0 when text does not begin with one.
func lastLine(text string) int {
	rest, ok := strings.CutPrefix(text, "-----END ")
	if !ok {
		return 0
	}
	if n := strings.Index(rest[:min(len(rest), 40)], "-----"); n >= 0 {
		return len(text) - len(rest) + n + len("-----")
	}
	return len(text) - len(rest)
}

// decoration returns the length of the text between the lines of a key: spaces, escapes of JSON, line
// numbers' bars, quotes.
func decoration(text string) (i int) {
	for i < len(text) {
		switch c := text[i]; {
		case isSpace(c), strings.IndexByte("\"'`,|>:", c) >= 0:
			i++
		case c == '\\':
			i += min(2, len(text)-i)
		case c == '-' && !strings.HasPrefix(text[i:], "--"), c == '+' && i > 0 && text[i-1] == '\n':
			i++
		case strings.HasPrefix(text[i:], "\u2192"): // as some agents number lines
			i += len("\u2192")
		default:
			return i
		}
	}
	return i
}

// wordLength returns how many bytes of a class text begins with.
func wordLength(text string, of uint8) (n int) {
	for n < len(text) && class[text[n]]&of != 0 {
		n++
	}
	return n
}
