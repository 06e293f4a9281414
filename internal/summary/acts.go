package summary

import (
	"slices"
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
		s += " → exit " + itoa(o.Exit)
	case a.failed:
		s += " → failed"
	case a.Test && o.Passed > 0:
		s += " → " + itoa(o.Passed) + " passed"
	case a.Test && o.Status == tool.OK:
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

// outcomeLine says what was called and how it ended, in one line, with what the result itself says of it.
func (a *act) outcomeLine() string {
	if a.said != "" {
		return a.said
	}
	title := clip(a.title(), maxHead)
	if !a.done {
		return title + " → no result yet"
	}
	status, words := a.status(), a.telling()
	switch {
	case words == "":
	case a.effect && status == "":
		status = words
	case status == "ok" && strings.HasPrefix(words, "ok"):
		status = words
	default:
		status += ": " + words
	}
	return title + " → " + status
}

// status says how a call ended.
func (a *act) status() string {
	o := &a.outcome
	switch {
	case o.Status == tool.Started:
		return "started, still running"
	case o.Status == tool.Refused:
		return "not run"
	case o.Failed > 0:
		s := itoa(o.Failed) + " failed"
		if o.Passed > 0 {
			s += ", " + itoa(o.Passed) + " passed"
		}
		if len(o.Failing) > 0 {
			s += ": " + strings.Join(o.Failing, ", ")
		}
		return s
	case o.Status == tool.Unknown && a.effect:
		return ""
	case o.Status == tool.Unknown && o.HasExit:
		return "exit " + itoa(o.Exit) + " of the last command"
	case o.Status == tool.Unknown:
		return "status unknown"
	case o.HasExit && o.Exit != 0:
		return "exit " + itoa(o.Exit)
	case a.failed:
		return "failed"
	case o.Passed > 0:
		return itoa(o.Passed) + " passed"
	case a.effect && a.telling() != "":
		return ""
	}
	return "ok"
}

// mostWords is how much of a result's own words about itself an outcome has, in bytes.
const mostWords = 260

// telling returns what the result itself says of how it ended.
func (a *act) telling() string {
	var out []string
	n := 0
	title, sep := a.title(), "; "
	for _, s := range a.outcome.Telling {
		s = strings.Join(strings.Fields(s), " ")
		if name, value, ok := strings.Cut(s, "="); a.effect && ok && !strings.Contains(name, " ") {
			if sep = ", "; strings.Contains(title, value) { // it is among the arguments
				continue
			}
		}
		if s == "" || s == "FAIL" && len(a.outcome.Failing) > 0 || slices.ContainsFunc(a.outcome.Failing, func(f string) bool { return strings.Contains(s, f) }) {
			continue
		}
		if n += len(s); n > mostWords && len(out) > 0 {
			break
		}
		out = append(out, clip(s, mostWords))
	}
	return strings.ReplaceAll(strings.Join(out, sep), " → ", " -> ")
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
