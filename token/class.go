package token

import "strings"

// weights are the tokens that one character of each class costs, on average.
type weights struct {
	letter, digit, punct, blank, newline float64
	cjk, other                           float64 // per character, not per byte
	escapedNewline, escape               float64 // per JSON escape of two bytes
	base64                               float64 // per character of a long base64 run
}

// claude holds the weights of Claude 4.5 and 4.6, fitted on what 11,284 real steps were billed (how far off
// they are: docs/BENCHMARKS.md, "Counting"; CJK from the last published Claude vocabulary). Escapes are ours:
// in tool arguments the model reads the character and not the backslash, and leaving them among punctuation
// overstates edits and writes by a quarter.
var claude = weights{
	letter: 0.250, digit: 0.685, punct: 0.807, blank: 0, newline: 2.75,
	cjk: 1.09, other: 0.34, escapedNewline: 1.6, escape: 0.22, base64: 0.68,
}

// newTokenizer is how many tokens Claude models from 4.7 on make of a text, as a multiple of the tokens
// of earlier models (docs/reference/anthropic.md, "Token counting").
const newTokenizer = 1.3

// chunk is how many bytes are counted at once. It must be less than 128, so that a field can hold it.
const chunk = 64

// The fields of a tally: each class has seven bits of a word, so that one addition per byte counts
// all classes of a chunk.
const (
	upper     = 7 * iota // A to Z
	lower                // a to z
	digit                // 0 to 9
	symbol               // the four signs that base64 uses besides letters and digits: + / - _ and =
	punct                // every other printable ASCII sign, and control characters
	blank                // space, tab, carriage return
	newline              //
	cjk                  // first byte of a CJK character
	other                // first byte of any other character outside ASCII
	fieldMask = 127
)

// classOf maps each byte to one in its class's field. A character outside ASCII is counted at its
// first byte, which decides closely enough whether it is CJK; continuation bytes are nothing.
var classOf = func() (t [256]uint64) {
	for b := range t {
		switch {
		case b >= 'A' && b <= 'Z':
			t[b] = 1 << upper
		case b >= 'a' && b <= 'z':
			t[b] = 1 << lower
		case b >= '0' && b <= '9':
			t[b] = 1 << digit
		case strings.IndexByte("+/-_=", byte(b)) >= 0:
			t[b] = 1 << symbol
		case b == '\n':
			t[b] = 1 << newline
		case b == ' ' || b == '\t' || b == '\r':
			t[b] = 1 << blank
		case b < 0x80:
			t[b] = 1 << punct
		case b >= 0xE3 && b <= 0xED || b == 0xEF: // U+3000 to U+D7FF, U+F000 to U+FFFF
			t[b] = 1 << cjk
		case b >= 0xC2 && b <= 0xF4:
			t[b] = 1 << other
		}
	}
	return t
}()

// tally counts the classes of up to chunk bytes.
func tally(s string) (sum uint64) {
	for i := 0; i < len(s); i++ {
		sum += classOf[s[i]]
	}
	return sum
}

func field(sum uint64, class uint) int { return int(sum >> class & fieldMask) }

// estimate returns the tokens of s by the weights of its characters. It makes one pass over the
// bytes, and looks twice only at backslashes.
func (w *weights) estimate(s string) float64 {
	var letters, digits, puncts, blanks, newlines, cjks, others, encoded int
	for rest := s; len(rest) > 0; {
		n := min(chunk, len(rest))
		sum := tally(rest[:n])
		rest = rest[n:]
		if isBase64(sum) {
			encoded += n
			continue
		}
		letters += field(sum, upper) + field(sum, lower)
		digits += field(sum, digit)
		puncts += field(sum, symbol) + field(sum, punct)
		blanks += field(sum, blank)
		newlines += field(sum, newline)
		cjks += field(sum, cjk)
		others += field(sum, other)
	}
	total := w.letter*float64(letters) + w.digit*float64(digits) + w.punct*float64(puncts) +
		w.blank*float64(blanks) + w.newline*float64(newlines) +
		w.cjk*float64(cjks) + w.other*float64(others) + w.base64*float64(encoded)
	return max(0, total+w.escapes(s))
}

// isBase64 reports whether a whole chunk looks like encoded bytes: nothing but the alphabet of base64
// and at most the end of a line, mixed as only random bits are. Long paths and names are not.
func isBase64(sum uint64) bool {
	u, l, d := field(sum, upper), field(sum, lower), field(sum, digit)
	return u+l+d+field(sum, symbol)+field(sum, newline) == chunk &&
		u >= 12 && l >= 12 && d >= 3 && field(sum, newline) <= 1
}

// escapes returns what must be added because some characters are one half of a JSON escape.
func (w *weights) escapes(s string) (correction float64) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return correction
		}
		switch s[i+1] {
		case 'n':
			correction += w.escapedNewline - w.punct - w.letter
		case 't', 'r':
			correction += w.escape - w.punct - w.letter
		case '"', '\\', '/':
			correction += w.escape - 2*w.punct
		}
		s = s[i+2:]
	}
}
