package source

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

const traceback = "Traceback (most recent call last):"

var (
	pyFile = lazyregexp.New(`^\s*File "([^"]+)", line (\d+)(?:, in (.+))?$`)
	pyLast = lazyregexp.New(`^([A-Za-z_][\w.]*)(?:: (.*)|:)?$`)
)

// parsePython reads tracebacks. Of several that are chained the last one is the error, and the ones before it are its causes.
func parsePython(lines []string) (Event, bool) {
	lines = ungrouped(lines)
	var newest *Event
	for i, n := 0, 0; i < len(lines) && n <= mostCauses; i++ {
		if !strings.HasSuffix(strings.TrimSpace(lines[i]), traceback) {
			continue
		}
		e, end := pythonTrace(lines[i+1:])
		if e.Class == "" && len(e.Frames) == 0 {
			continue
		}
		i, n = i+end, n+1
		e.Cause, newest = newest, &e
	}
	if newest == nil {
		return Event{}, false
	}
	return *newest, true
}

// pyMargin is what stands before each line of an exception group.
var pyMargin = lazyregexp.New(`^ +(?:\| ?|\+ |\+-[+ \d-]*$)`)

// ungrouped returns lines without the margin that exception groups have.
func ungrouped(lines []string) []string {
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "+ Exception Group Traceback") }) {
		return lines
	}
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		m := pyMargin.FindString(l)
		if l = l[len(m):]; m == "" || l != "" {
			out = append(out, l)
		}
	}
	return out
}

// pythonTrace reads one traceback, and returns how many lines it has.
func pythonTrace(lines []string) (e Event, n int) {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if m := pyFile.FindStringSubmatch(line); m != nil {
			e.Frames = append(e.Frames, pythonFrame(m[1], number(m[2]), m[3]))
			continue
		}
		if line == "" || line[0] == ' ' || line[0] == '\t' || trimmed == "" {
			continue // what the line of code was
		}
		if m := pyLast.FindStringSubmatch(trimmed); m != nil {
			e.Class, e.Message = m[1], m[2]
			n = i + 1 + moreMessage(&e, lines[i+1:])
		}
		break
	}
	slices.Reverse(e.Frames)
	return e, n
}

// moreMessage adds the lines of a message of several lines, up to an empty one.
func moreMessage(e *Event, lines []string) (n int) {
	for _, line := range lines {
		if strings.TrimSpace(line) == "" || strings.HasSuffix(line, traceback) || len(e.Message) > mostMessage {
			return n
		}
		e.Message += "\n" + line
		n++
	}
	return n
}

func pythonFrame(file string, line int, function string) Frame {
	inApp := !holdsAny(file, "site-packages/", "dist-packages/", "/lib/python", "\\Lib\\", "<frozen", "<string>", "/importlib/")
	module := ""
	if _, lib, ok := strings.Cut(file, "-packages/"); ok {
		module, _, _ = strings.Cut(lib, "/")
	}
	return Frame{File: file, Line: line, Function: function, Module: module, InApp: inApp}
}
