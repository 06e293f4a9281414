package summary

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/tool"
)

// file returns the one file that a call shows or changes, as the model wrote it, or "" or more than one.
func (a *act) file() string {
	if len(a.Files) != 1 || a.Class == tool.Shell && a.Effect != tool.Read {
		return ""
	}
	return a.Files[0].Path
}

// maxHead is the longest heading of a call in bytes.
const maxHead = 200

// head says in one line what was called and how it ended.
func (a *act) head() string {
	s := cite(a.number) + a.title()
	switch o := &a.outcome; {
	case !a.done:
		return s
	case o.HasExit && o.Exit != 0:
		s += " → exit " + strconv.Itoa(o.Exit)
	case a.failed:
		s += " → failed"
	case a.Test && o.Passed > 0:
		s += " → " + strconv.Itoa(o.Passed) + " passed"
	case a.Test:
		s += " → ok"
	}
	return s
}

// title says what was called: a command, or the tool with its short arguments.
func (a *act) title() string {
	if a.Command != "" {
		return "$ " + firstLine(a.Command)
	}
	s := a.Name
	for _, v := range a.values {
		if len(s)+len(v.text) <= maxHead && !strings.ContainsRune(v.text, '\n') {
			s += " " + v.text
		}
	}
	return s
}

// firstLine returns the first line of s, with a mark when there are more. A very long one is cut at a word.
func firstLine(s string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line = strings.TrimSpace(line); len(line) > 2*maxHead {
		line, rest = line[:wordBefore(line, 2*maxHead)], "more"
	}
	if rest != "" {
		line += " …"
	}
	return line
}

// outcomeLine says what was called and how it ended, in one line with the number of the message.
func (a *act) outcomeLine() string {
	if a.said != "" {
		return a.said
	}
	s := a.title()
	o := &a.outcome
	switch {
	case !a.done:
		return s + " → no result yet"
	case o.Failed > 0:
		s += " → " + itoa(o.Failed) + " failed"
		if o.Passed > 0 {
			s += ", " + itoa(o.Passed) + " passed"
		}
		if len(o.Failing) > 0 {
			s += ": " + strings.Join(o.Failing, ", ")
		}
	case o.HasExit && o.Exit != 0:
		s += " → exit " + itoa(o.Exit)
	case a.failed:
		s += " → failed"
	case o.Passed > 0:
		s += " → " + itoa(o.Passed) + " passed"
	default:
		s += " → ok"
	}
	return s
}

// named returns the first value of a call's arguments that has one of the names.
func (a *act) named(names ...string) string {
	for _, v := range a.values {
		for _, n := range names {
			if v.name == n && v.text != "" {
				return v.text
			}
		}
	}
	return ""
}
