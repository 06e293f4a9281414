package source

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// level finds the level of a line of a log, within what stands before its message: "[main] ERROR com.acme.Orders - ", "E1123 02:11:09",
// "level=error msg=...".
var level = lazyregexp.New(`^(?:[^"'{]{0,80}?[\s\[|(<:,-])??\[?(?:(ERROR|FATAL|CRITICAL|SEVERE|PANIC|EMERG|ALERT|CRIT|Error|error|fatal|crit)\b|(INFO|DEBUG|WARN|WARNING|TRACE|NOTICE|info|debug|warn|warning|notice)\b)[\]|>)]?:? ?`)

// errorWord reports whether a line may be an error by itself: it has one of the words without which none is one. Most lines have none, and
// this is cheap.
func errorWord(line string) bool {
	return holdsAny(line, "rr", "RR", "atal", "ATAL", "anic", "ANIC", "rit", "RIT", "SEV", "EMERG", "ALERT", " (") || klog.MatchString(line)
}

// isErrorLine reports whether a line has the level of an error.
func isErrorLine(line string) bool {
	m := level.FindStringSubmatch(line)
	return m != nil && m[1] != "" || logfmtLevel.MatchString(line) || klog.MatchString(line)
}

var (
	klog        = lazyregexp.New(`^[EF]\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ (\S+:\d+)\] `)
	logger      = lazyregexp.New(`^(?:\[[^\]]*\] *|\([^)]*\) *|[\w.$/\-]+(?:\[\d+\])? *(?:-|:|\]) +|\d+ +--- +|- +)+`)
	logfmt      = lazyregexp.New(`(\w[\w.]*)=(?:"((?:[^"\\]|\\.)*)"|(\S*))`)
	logfmtLevel = lazyregexp.New(`(?i)(?:^|\s)level="?(?:error|err|fatal|panic|crit|critical)"?(?:\s|$)`)
	release     = lazyregexp.New(`\b(?:release|version|commit|revision)[=:] ?"?([\w.\-+/]{3,80})`)
)

// readRecord returns the event that a record tells, without its time; ok is false when it tells of none.
func readRecord(lines []string) (e Event, ok bool) {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 || len(lines) == 1 && !errorWord(lines[0]) {
		return e, false
	}
	head := lines[0]
	if e, ok = parseLines(lines); ok {
		e.Release = releaseOf(head)
		if e.Message == "" && e.Class == "" {
			e.Message = said(head)
		}
		return e, true
	}
	if !isErrorLine(head) {
		return Event{}, false
	}
	e = Event{Message: cut(strings.ToValidUTF8(said(head), "\uFFFD"), mostMessage), Release: releaseOf(head)}
	if fields := pairs(head); fields["msg"] != "" {
		e.Message = cut(joined(fields["msg"], fields["error"]+fields["err"]), mostMessage)
		e.Service, e.Release, e.Transaction = fields["service"], fields["release"]+fields["version"], fields["transaction"]
	}
	if c, m := classed(e.Message); holdsAny(c, "Error", "Exception", "::") {
		e.Class, e.Message = c, m
	}
	return e, e.Message != "" || e.Class != ""
}

// said returns the message of the line that begins a record: what stands behind level and logger.
func said(line string) string {
	if m := klog.FindString(line); m != "" {
		return line[len(m):]
	}
	if m := level.FindStringIndex(line); m != nil {
		line = line[m[1]:]
	}
	rest := strings.TrimLeft(line, "-:| \t")
	if m := logger.FindString(rest); m != "" && !holdsAny(m, "Error:", "Exception:") && len(m) < len(rest) {
		rest = rest[len(m):]
	}
	return strings.TrimSpace(rest)
}

// pairs reads what stands in the form of logfmt.
func pairs(line string) map[string]string {
	if !strings.Contains(line, "msg=") {
		return nil
	}
	out := map[string]string{}
	for _, m := range logfmt.FindAllStringSubmatch(line, mostAttributes) {
		out[m[1]] = strings.ReplaceAll(m[2], `\"`, `"`) + m[3]
	}
	return out
}

func releaseOf(line string) string {
	if m := release.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}
