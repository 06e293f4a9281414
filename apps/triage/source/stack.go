package source

import (
	"strconv"
	"strings"
)

// Parse reads one error from a text that somebody has pasted, or that a source has as it is: a stack of Go, Python, Java, Ruby or Node,
// with what stands around it. It reports whether it found a stack. The event has no time; without a stack, its message is the first line.
func Parse(text string) (e Event, ok bool) {
	lines := strings.Split(strings.ReplaceAll(cut(text, mostRecord), "\r\n", "\n"), "\n")
	if e, ok = parseLines(lines); ok {
		return e, true
	}
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			return Event{Message: cut(l, mostMessage)}, false
		}
	}
	return Event{}, false
}

func parseLines(lines []string) (e Event, ok bool) {
	for _, parse := range []func([]string) (Event, bool){parsePython, parseGo, parseJava, parseNode, parseRuby} {
		if e, ok = parse(lines); ok {
			bound(&e)
			return e, true
		}
	}
	return Event{}, false
}

// bound cuts an event down to what is kept of one.
func bound(e *Event) {
	for n := 0; e != nil; e, n = e.Cause, n+1 {
		e.Message = cut(strings.ToValidUTF8(e.Message, "\uFFFD"), mostMessage)
		e.Class = cut(strings.ToValidUTF8(e.Class, "\uFFFD"), mostAttribute)
		if len(e.Frames) > mostFrames {
			e.Frames = e.Frames[:mostFrames]
		}
		if n == mostCauses {
			e.Cause = nil
		}
	}
}

// classed splits "Class: message".
func classed(s string) (class, message string) {
	s = strings.TrimSpace(s)
	class, message, ok := strings.Cut(s, ": ")
	if !ok {
		class = strings.TrimSuffix(s, ":")
	}
	if strings.ContainsAny(class, " \t") || class == "" {
		return "", s
	}
	return class, strings.TrimSpace(message)
}

// number reads the number of a line, 0 where there is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// holdsAny reports whether s has one of some parts.
func holdsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
