package agent

import (
	"fmt"
	"unicode/utf8"
)

// capped returns a result in at most most characters: its beginning, its end, and between them what is missing and how to get
// it. This is the one place where results are cut.
func capped(r Result, most int) Result {
	n := utf8.RuneCountInString(r.Text)
	if n <= most {
		return r
	}
	how := "Ask for less at a time, or for another part."
	if r.Rest != "" {
		how = "To get the rest: " + r.Rest
	}
	mark := fmt.Sprintf("\n[... %d of %d characters are left out here. %s ...]\n", n, n, how) // as long as the one below, or longer
	room := max(0, most-utf8.RuneCountInString(mark))
	head := room * 2 / 3
	mark = fmt.Sprintf("\n[... %d of %d characters are left out here. %s ...]\n", n-room, n, how)
	r.Text = firstRunes(r.Text, head) + mark + lastRunes(r.Text, room-head)
	return r
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// lastRunes returns the last n characters of s.
func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}
