package source

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	javaAt     = lazyregexp.New(`^\s*at (?:[\w.\-]+(?:@[\w.\-]+)?/|//)*([\w.$<>]+)\.([\w$<>]+)\((?:([\w.$]+\.(?:java|kt|scala|groovy|clj))(?::(\d+))?|Native Method|Unknown Source|<generated>)\)`)
	javaHead   = lazyregexp.New(`^(?:.*?[\s:\]])??((?:[a-zA-Z_][\w$]*\.)+[A-Z][\w$]*)(?:: (.*))?$`)
	javaThread = lazyregexp.New(`Exception in thread "[^"]*" `)
	javaOthers = lazyregexp.New(`^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|org\.(?:springframework|apache|hibernate|eclipse|jboss|junit|postgresql|slf4j)|io\.(?:netty|reactivex|micrometer|undertow|vertx)|com\.(?:fasterxml|zaxxer|mysql|google\.common|google\.inject)|reactor|ch\.qos|akka|okhttp3|retrofit2)\.`)
)

// parseJava reads the stack of an exception of the JVM with its causes.
func parseJava(lines []string) (Event, bool) {
	first := -1
	for i, line := range lines {
		if javaAt.MatchString(line) {
			first = i
			break
		}
	}
	if first < 1 {
		return Event{}, false
	}
	e := javaError(lines[:first])
	if e.Class == "" {
		return Event{}, false
	}
	newest, causes := &e, 0
	for _, line := range lines[first:] {
		trimmed := strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(trimmed, "Caused by: "); ok && causes < mostCauses {
			cause := javaError([]string{rest})
			newest.Cause, newest = &cause, &cause
			causes++
		} else if strings.HasPrefix(trimmed, "Suppressed: ") {
			newest = &Event{} // not a cause: what went wrong while it was handled
		} else if m := javaAt.FindStringSubmatch(line); m != nil && len(newest.Frames) < mostFrames {
			newest.Frames = append(newest.Frames, javaFrame(m))
		}
	}
	return e, true
}

// javaError reads class and message from the lines before the first frame: the last one that begins with a class, and what follows.
func javaError(lines []string) (e Event) {
	for i := len(lines) - 1; i >= 0; i-- {
		line := javaThread.ReplaceAllString(strings.TrimSpace(lines[i]), "")
		m := javaHead.FindStringSubmatch(line)
		if m == nil || !holdsAny(m[1], "Exception", "Error", "Throwable", "Fault", "Failure", "Timeout") && m[1] != line && m[2] == "" {
			continue
		}
		e.Class = m[1]
		e.Message = strings.Join(append([]string{m[2]}, lines[i+1:]...), "\n")
		return e
	}
	return e
}

func javaFrame(m []string) Frame {
	class := m[1]
	pkg := ""
	if i := strings.LastIndexByte(class, '.'); i > 0 {
		pkg = class[:i]
	}
	return Frame{File: m[3], Line: number(m[4]), Function: class + "." + m[2], Module: pkg, InApp: m[3] != "" && !javaOthers.MatchString(class+".")}
}
