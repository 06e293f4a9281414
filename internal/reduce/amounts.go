package reduce

import (
	"strings"

	"github.com/decantdev/decant/internal/humanize"
)

// amount counts things in words.
func amount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") {
		thing += "e"
	}
	return humanize.Thousands(n) + " " + thing + "s"
}

// oneLine puts text on one line of at most n bytes, cut at a rune.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return text[:runeStart(text, n)] + "…"
}

// runeStart returns the largest boundary of runes in s that is not behind n.
func runeStart(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return n
}
