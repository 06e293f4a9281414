package summary

import (
	"iter"
	"strings"
)

// Widths of lines, in bytes.
const (
	widest   = 400 // a longer line is quoted in pieces
	fewWords = 6   // a piece of a line has so many words at least
)

// reminder and endReminder enclose additions of a client to the results of tools.
const (
	reminder    = "<system-reminder>"
	endReminder = "</system-reminder>"
)

// pieces yields the lines of a text that can be quoted, without the blanks around them and the numbers that
// tools put before the lines of files. Of a line that is too long to be quoted whole its sentences are yielded, and
// nothing where it has none.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		hidden := false
		for len(text) > 0 {
			ln := text
			if k := strings.IndexByte(text, '\n'); k >= 0 {
				ln, text = text[:k], text[k+1:]
			} else {
				text = ""
			}
			ln = strings.TrimSpace(unnumber(ln))
			if hidden = hidden || strings.HasPrefix(ln, reminder); hidden { // the client's, not the tool's
				hidden = !strings.Contains(ln, endReminder)
				continue
			}
			switch {
			case !says(ln):
			case len(ln) <= widest:
				if !yield(ln) {
					return
				}
			default:
				for _, s := range sentences(ln) {
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

// says reports whether a line says anything at all: it has a letter or a digit, and is no fence of code.
func says(s string) bool {
	if len(s) < 4 || strings.HasPrefix(s, "```") {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || letter(c) || c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

// sentences returns the sentences of a line of prose, with neighbours joined while they are short.
func sentences(ln string) (out []string) {
	for len(ln) > 0 {
		n := sentenceEnd(ln)
		s := strings.TrimSpace(ln[:n])
		ln = strings.TrimSpace(ln[n:])
		if len(s) <= widest && (len(strings.Fields(s)) >= fewWords || s != "" && s[0] >= 0xe0) {
			out = append(out, s)
		}
	}
	return out
}

// apart returns the sentences of a line of prose, each by itself, the shortest with the one behind them.
func apart(ln string) (out []string) {
	start := 0
	for i := 0; i < len(ln); i++ {
		end := 0
		switch ln[i] {
		case '.', '!', '?':
			if i+1 < len(ln) && ln[i+1] == ' ' {
				end = i + 1
			}
		case 0xe3, 0xef: // "。", "！", "？"
			if p := ln[i:min(i+3, len(ln))]; p == "。" || p == "！" || p == "？" {
				end = i + 3
			}
		}
		if end-start >= shortest {
			out = append(out, strings.TrimSpace(ln[start:end]))
			start = end
		}
	}
	if s := strings.TrimSpace(ln[start:]); s != "" {
		out = append(out, s)
	}
	return out
}

// shortest is the minimum length, in bytes, of a sentence on its own.
const shortest = 24

// sentenceEnd returns where the last sentence within the width of a line ends; where the first one ends when
// that is longer, and the whole length when there is no end.
func sentenceEnd(s string) int {
	last := 0
	for i := 0; i < len(s); i++ {
		end := 0
		switch s[i] {
		case '.', '!', '?', ';':
			if i+1 == len(s) || s[i+1] == ' ' {
				end = i + 1
			}
		case 0xe3, 0xef: // "。", "！", "？"
			if p := s[i:min(i+3, len(s))]; p == "。" || p == "！" || p == "？" {
				end = i + 3
			}
		}
		switch {
		case last > 0 && max(i, end) > widest:
			return last
		case end > widest:
			return end
		case end > 0:
			last = end
		}
	}
	if last > 0 && len(s) > widest {
		return last
	}
	return len(s)
}

// unnumber takes the number off a line of a file as tools show it: "   123→text" or "123\ttext".
func unnumber(s string) string {
	i := 0
	for i < len(s) && s[i] == ' ' {
		i++
	}
	j := i
	for j < len(s) && s[j] >= '0' && s[j] <= '9' {
		j++
	}
	if j == i {
		return s
	}
	if rest, ok := strings.CutPrefix(s[j:], "→"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(s[j:], "\t"); ok {
		return rest
	}
	return s
}

// wordBefore returns the last place at or before n at which s may be cut between words.
func wordBefore(s string, n int) int {
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		return i
	}
	for n > 1 && s[n]&0xc0 == 0x80 {
		n--
	}
	return n
}

// lines returns the lines of a text that are not empty, without the blanks at their ends.
func lines(s string) (out []string) {
	for ln := range strings.Lines(s) {
		if ln = strings.TrimRight(ln, " \t\r\n"); ln != "" {
			out = append(out, ln)
		}
	}
	return out
}
