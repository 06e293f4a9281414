package source

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	nodeAt   = lazyregexp.New(`^\s+at (?:(async )?(.+?) \()?((?:file://)?(?:[A-Za-z]:)?[^():\s][^():]*|<anonymous>|node:[\w/:]+?|native)(?::(\d+)(?::(\d+))?)?\)?$`)
	nodeHead = lazyregexp.New(`^(?:.*?\s)??(?:Uncaught )?([A-Z][\w$.]*(?:Error|Exception|Warning|Failure|Rejection)?(?: \[\w+\])?|Error|[\w$]+Error(?: \[\w+\])?)(?:: (.*))?$`)
)

// parseNode reads the stack of an error of JavaScript.
func parseNode(lines []string) (Event, bool) {
	for i, line := range lines {
		m := nodeAt.FindStringSubmatch(line)
		if m == nil || i == 0 || !nodePlace(m) {
			continue
		}
		e := nodeError(lines[:i])
		if e.Class == "" {
			return e, false
		}
		nodeFrames(&e, lines[i:])
		return e, true
	}
	return Event{}, false
}

// nodePlace reports whether a line that looks like a frame names a file and a line.
func nodePlace(m []string) bool {
	return m[4] != "" || m[3] == "<anonymous>" || strings.HasPrefix(m[3], "node:")
}

// nodeError reads class and message from the lines before the first frame.
func nodeError(lines []string) (e Event) {
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if rest, ok := strings.CutPrefix(line, "[cause]: "); ok {
			line = rest
		}
		m := nodeHead.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		e.Class, _, _ = strings.Cut(m[1], " [")
		e.Message = strings.TrimRight(strings.Join(append([]string{m[2]}, lines[i+1:]...), "\n"), "\n ")
		return e
	}
	return e
}

// nodeFrames reads the frames, and those of causes behind them.
func nodeFrames(e *Event, lines []string) {
	causes := 0
	for _, line := range lines {
		if _, cause, ok := strings.Cut(line, "[cause]: "); ok && causes < mostCauses {
			c := nodeError([]string{cause})
			e.Cause, e = &c, &c
			causes++
			continue
		}
		m := nodeAt.FindStringSubmatch(strings.TrimSuffix(strings.TrimRight(line, " "), " {"))
		if m == nil || !nodePlace(m) || len(e.Frames) == mostFrames {
			continue
		}
		file := strings.TrimPrefix(m[3], "file://")
		module := ""
		if i := strings.LastIndex(file, "node_modules/"); i >= 0 {
			module, _, _ = strings.Cut(file[i+len("node_modules/"):], "/")
		}
		inApp := m[4] != "" && !holdsAny(file, "node_modules/") && !strings.HasPrefix(file, "node:") && !strings.HasPrefix(file, "internal/")
		e.Frames = append(e.Frames, Frame{File: file, Line: number(m[4]), Function: m[2], Module: module, InApp: inApp})
	}
}
