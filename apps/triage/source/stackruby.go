package source

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	rubyAt   = lazyregexp.New("^\\s*(?:from |\\[?\\d+\\]? ?:? ?)?((?:[A-Za-z]:)?[^\\s:]+\\.(?:rb|erb|haml|rake|ru)|bin/[\\w\\-]+|<internal:[\\w\\-/]+>):(\\d+)(?::in [`']([^']+)')?")
	rubyHead = lazyregexp.New("^(?:.*?\\s)??((?:[a-zA-Z]:)?[^\\s:]+\\.(?:rb|erb|haml|rake|ru)|bin/[\\w\\-]+):(\\d+):in [`']([^']+)': (.*) \\(([A-Z][\\w:]*)\\)$")
	rubyRail = lazyregexp.New(`^(?:.*?\s)??([A-Z]\w*(?:::[A-Z]\w*)*(?:Error|Exception|NotFound|Invalid|Timeout|Missing|[A-Z]\w*)) \((.*)\):?$`)
	rubyLog  = lazyregexp.New(`^(?:.*?\s)??([A-Z]\w*(?:::[A-Z]\w*)*): (.*)$`)
)

// parseRuby reads the stack of a Ruby exception: as Ruby prints it, as Rails logs it, as loggers write it.
func parseRuby(lines []string) (e Event, ok bool) {
	for i, line := range lines {
		if m := rubyHead.FindStringSubmatch(line); m != nil {
			e = Event{Class: m[5], Message: m[4], Frames: []Frame{rubyFrame(m[1:4])}}
			e.Frames = append(e.Frames, rubyFrames(lines[i+1:])...)
			return e, true
		}
	}
	for i, line := range lines {
		if i == 0 || !rubyAt.MatchString(line) {
			continue
		}
		for k := i - 1; k >= 0; k-- {
			m := rubyRail.FindStringSubmatch(strings.TrimSpace(lines[k]))
			if m == nil {
				m = rubyLog.FindStringSubmatch(strings.TrimSpace(lines[k]))
			}
			if m != nil {
				e = Event{Class: m[1], Message: m[2], Frames: rubyFrames(lines[i:])}
				return e, true
			}
		}
		return e, false
	}
	return e, false
}

func rubyFrames(lines []string) (out []Frame) {
	for _, line := range lines {
		if m := rubyAt.FindStringSubmatch(line); m != nil && len(out) < mostFrames {
			out = append(out, rubyFrame(m[1:]))
		}
	}
	return out
}

func rubyFrame(m []string) Frame {
	file, module := m[0], ""
	if _, gem, ok := strings.Cut(file, "/gems/"); ok {
		if i := strings.LastIndex(gem, "/gems/"); i >= 0 {
			gem = gem[i+len("/gems/"):]
		}
		module, _, _ = strings.Cut(gem, "/")
	}
	inApp := !holdsAny(file, "/gems/", "/lib/ruby/", "<internal:")
	return Frame{File: file, Line: number(m[1]), Function: m[2], Module: module, InApp: inApp}
}
