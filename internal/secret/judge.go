package secret

import (
	"math"
	"strings"
)

// judged is how many bytes of a value are looked at to tell whether it is a credential.
const judged = 96

// credential reports whether v is one, behind a name that tells so much.
func (v value) credential(is trust) bool {
	s := v.text[:min(len(v.text), judged)]
	if s == "" || v.isCode(s) {
		return false
	}
	c := count(s)
	ok := false
	switch is {
	case password:
		ok = v.chosen(c)
	case strong:
		ok = v.random(c) || v.env && c.size >= 10 && c.digits > 0 && c.letters() > 0 && c.dots == 0
	case mixed:
		ok = v.random(c) && v.allKinds(c)
	}
	return ok && !isPath(s) && !placeholder(s)
}

// allKinds reports whether v has letters, small and capital, and digits, as what a machine makes and a name
// or a hash has not.
func (v value) allKinds(c counts) bool {
	if c.dots+c.symbols > 0 || c.slashes > c.size/20 || strings.HasPrefix(v.text, "sha") ||
		strings.HasPrefix(v.text, "AAAA") {
		return false
	}
	return c.lower > 1 && c.upper > 1 && c.digits > 1 && c.bits() > 3.5 ||
		v.env && c.size >= 32 && c.hex() && c.size != commit
}

// commit is the length of a hash of Git, which is a name.
const commit = 40

// isCode reports whether v, without quotes, is an expression: a call, an index, a member of something.
func (v value) isCode(s string) bool {
	if v.how == ownLine && v.next != 0 && strings.IndexByte("\n\r\\\"", v.next) < 0 {
		return true // a line of something else
	}
	if strings.HasPrefix(strings.TrimLeft(s, " "), "+") {
		return true // what looks like a quote before it is the end of one
	}
	if v.how == quoted || v.env {
		return false
	}
	return v.next != 0 && strings.IndexByte("([{<", v.next) >= 0 || strings.Contains(s, `\x`) || strings.Contains(s, "->") || strings.Contains(s, "::")
}

// chosen reports whether v looks like a password of a person's choice.
func (v value) chosen(c counts) bool {
	switch {
	case c.spaces > 0 && !(v.env && v.how == quoted), c.size < 4:
		return false
	case v.yaml && v.how == bare && (v.next == 0 || v.next == '\n' || v.next == '\\'):
		return c.size >= 6 && c.steps == 0 && c.dots+c.slashes == 0 && c.letters() > 0
	case v.env:
		return c.size >= 6 || c.digits > 0 && c.letters() > 0
	case c.letters() == 0:
		return v.how == quoted && c.digits >= 6
	case c.size >= 20 && c.dots == 0 && (c.letters() == c.size && c.steps == 0 || v.how == quoted && noisy(v.text)):
		return true
	case v.how == quoted:
		return c.size >= 6 && c.dots == 0 && (c.digits > 0 || c.steps == 0 && c.letters() == c.size) ||
			c.size >= 8 && c.symbols > 0
	}
	return c.size >= 6 && c.digits > 0 && c.dots == 0 && c.slashes == 0 && c.letters()+c.symbols > 3
}

// random reports whether v looks like what a machine has made rather than a word, a name or a number.
func (v value) random(c counts) bool {
	switch {
	case c.size < 16 || c.spaces > 0 || c.letters() < 2 || c.others*4 > c.size:
		return false
	case c.digits < 2:
		return c.size >= 20 && (v.how == quoted || v.env) && c.dots == 0 && noisy(v.text)
	case c.slashes >= 3 || c.dots > 0 || v.how == bare && !v.env:
		return (c.changes >= 3 || c.size >= 20 && c.steps >= 3 && noisy(v.text)) && c.bits() > 3.0
	}
	return c.bits() > 3.0
}

// counts say what a value consists of.
type counts struct {
	text                            string
	size, lower, upper, digits      int
	symbols                         int // characters that password rules demand, and paths and names lack
	others                          int // what is neither letter nor digit
	spaces, dots, slashes, hexDigit int
	steps                           int // from a small letter to a capital one
	changes                         int // between letters and digits
}

func (c counts) letters() int { return c.lower + c.upper }
func (c counts) hex() bool    { return c.hexDigit == c.size }

func count(s string) counts {
	c := counts{text: s, size: len(s)}
	for i := range len(s) {
		b := s[i]
		switch {
		case isDigit(b):
			c.digits++
		case isUpper(b):
			c.upper++
		case isLetter(b):
			c.lower++
		default:
			c.other(b)
		}
		if class[b]&hexDigit != 0 {
			c.hexDigit++
		}
		if i > 0 {
			a := s[i-1]
			if isDigit(a) != isDigit(b) && isAlnum(a) && isAlnum(b) {
				c.changes++
			}
			if isLetter(a) && !isUpper(a) && isUpper(b) {
				c.steps++
			}
		}
	}
	return c
}

// bits returns the entropy of the bytes, each.
func (c counts) bits() (bits float64) {
	var of [256]uint8
	for i := range len(c.text) {
		of[c.text[i]]++
	}
	for _, n := range of {
		if n > 0 {
			p := float64(n) / float64(c.size)
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// other counts what is neither letter nor digit.
func (c *counts) other(b byte) {
	c.others++
	switch b {
	case ' ', '\t':
		c.spaces++
	case '.':
		c.dots++
	case '/':
		c.slashes++
	case '-', '_', ':', '=', '+', ',', '%', '~':
	default:
		c.symbols++
	}
}

// noisy reports whether s has letters unlike any word: five consonants in a row.
func noisy(s string) bool {
	n, most := 0, 0
	for i := range len(s) {
		if n++; !isLetter(s[i]) || strings.IndexByte("aeiouyAEIOUY", s[i]) >= 0 {
			n = 0
		}
		most = max(most, n)
	}
	return most >= 5
}

// isPath reports whether a value is the name of a file or an address.
func isPath(s string) bool {
	for _, p := range [...]string{"/", "./", "../", "~/", "arn:", "file:"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return strings.Contains(s, "://") || len(s) > 2 && isLetter(s[0]) && s[1] == ':' && s[2] == '\\'
}

// stand are parts of what stands for a credential without being one.
var stand = []string{
	"example", "your", "xxxx", "***", "...", "\u2026", "redacted", "placeholder", "changeme", "change-me",
	"change_me", "dummy", "process.env", "os.environ", "getenv",
}

// nothing are words in the place of a password.
var nothing = []string{
	"true", "false", "none", "null", "undefined", "required", "optional", "string", "secret", "password",
	"passwd", "prompt", "stdin", "enabled", "disabled", "sha256", "sha512", "base64", "argon2", "argon2id",
}

// placeholder reports whether v is in the place of a credential but is not one.
func placeholder(v string) bool {
	if v == "" || strings.IndexByte("${<%", v[0]) >= 0 && !strings.HasPrefix(v, "%2") {
		return true
	}
	low := strings.ToLower(v)
	for _, p := range stand {
		if strings.Contains(low, p) {
			return true
		}
	}
	for _, w := range nothing {
		if low == w {
			return true
		}
	}
	return false
}
