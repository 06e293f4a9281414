package humanize

import "strings"

// Clipped returns the beginning of a text: at most n bytes, and a mark where something is left out.
func Clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
