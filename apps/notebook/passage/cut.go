package passage

import (
	"strings"
	"unicode/utf8"
)

// Size of passages, in bytes.
const (
	passageSize = 1600 // a passage ends with the line that reaches this
	longestLine = 3200 // a longer line is cut
)

// cut calls yield with where the passages of a text begin and end.
func cut(text string, yield func(from, to int)) {
	from, at := 0, 0
	for at < len(text) {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if end-at > longestLine {
			end = at + longestLine
			for end > at && !utf8.RuneStart(text[end]) {
				end--
			}
		}
		if at = end; at-from >= passageSize {
			yield(from, at)
			from = at
		}
	}
	if from < len(text) {
		yield(from, len(text))
	}
}
