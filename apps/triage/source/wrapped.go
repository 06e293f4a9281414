package source

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A wrapped line is a line of a program without what a container runtime, a service manager or a log collector
// has put around it.
type wrapped struct {
	from    string    // the container, pod or process; lines of one are put together
	at      time.Time // when the line was collected; zero: unknown
	text    string
	partial bool // the next line from there continues this one
	severe  bool // the collector has noted that it is an error
}

// mostWraps is how many wrappings of one line are taken off, such as a prefix of Compose before an object of Docker.
const mostWraps = 4

// An unwrapper takes wrappings off lines.
type unwrapper struct {
	near   time.Time       // completes a time without a year
	events bool            // an object of JSON with a message is an event
	known  map[string]bool // prefixes that were seen on several lines
}

// mostKnown bounds the prefixes that are remembered.
const mostKnown = 4096

// unwrap takes the wrappings off a line. ahead is some of the text that follows the line. An object of JSON that is
// not a wrapping is returned as it is.
func (u *unwrapper) unwrap(line string, ahead []byte) wrapped {
	w := wrapped{text: plain(line)}
	for range mostWraps {
		in, ok := u.object(w.text, ahead)
		if !ok {
			in, ok = u.prefix(w.text, ahead)
		}
		if !ok {
			in, ok = u.stamp(w.from, w.text, ahead)
		}
		if !ok {
			break
		}
		if w.at.IsZero() {
			w.at = in.at
		}
		if in.from != "" {
			w.from += in.from + "\x00"
		}
		w.text, w.partial, w.severe = plain(in.text), in.partial, w.severe || in.severe
	}
	return w
}

// escapes are sequences that colour text, move the cursor or set a title: ECMA-48, sections 5.4 and 5.6.
var escapes = lazyregexp.New("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")

// plain returns a line without escape sequences.
func plain(line string) string {
	if strings.IndexByte(line, '\x1b') >= 0 {
		line = escapes.ReplaceAllString(line, "")
	}
	return strings.TrimRight(line, "\r\n")
}

// lineNames are the fields that hold a line of a program: Docker and Fluent Bit, journald, Loki, Google Cloud. The
// last ones do so where objects with a message are not events by themselves.
var lineNames = []string{"log", "MESSAGE", "line", "textPayload", "message", "msg"}

// fromNames are the fields that name the place a line comes from.
var fromNames = []string{"container_id", "container_name", "_SYSTEMD_UNIT", "_PID", "SYSLOG_IDENTIFIER", "stream", "logStreamName", "pod", "container", "instance"}

// object takes off an object of JSON around a line. One with a level, a class or a stack is an event, not a wrapping; of
// Google Cloud's, which have a level each, those are wrappings that hold a text.
func (u *unwrapper) object(line string, ahead []byte) (w wrapped, ok bool) {
	if !isObject(line) {
		return w, false
	}
	o, err := decode([]byte(line))
	if err != nil || o.tells() && o["textPayload"] == nil {
		return w, false
	}
	names := lineNames
	if u.events {
		names = names[:4]
	}
	for _, name := range names {
		if w.text, ok = textOf(o[name]); ok {
			w.partial = name == "log" && !strings.HasSuffix(w.text, "\n") && o["stream"] != nil && u.ends(ahead)
			break
		}
	}
	if !ok {
		return w, false
	}
	for _, from := range []object{o, o.child("kubernetes"), o.child("labels"), o.child("resource").child("labels")} {
		for _, name := range append(fromNames, "pod_name", "container_name") {
			if s, ok := from[name].(string); ok {
				w.from += s + "\x00"
			}
		}
	}
	if at, ok := o.first(append(timeNames, "__REALTIME_TIMESTAMP")); ok {
		w.at, _ = timeOf(at)
	}
	p, _ := o["PRIORITY"].(string)
	w.severe = len(p) == 1 && p <= "3" || severe(o["severity"]) // syslog(3): emerg, alert, crit, err
	return w, true
}

// severe reports whether a level of Google Cloud is an error.
func severe(level any) bool {
	return level == "ERROR" || level == "CRITICAL" || level == "ALERT" || level == "EMERGENCY"
}

// ends reports whether lines of a container have their ends: then one without an end is a part of a line, as Docker
// writes long ones. Collectors leave all ends out.
func (u *unwrapper) ends(ahead []byte) bool {
	return u.known["ends"] || bytes.Contains(ahead, []byte(`\n"`)) && u.learn("ends")
}

func isObject(line string) bool { return len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' }

// textOf returns a text of JSON. journald writes one that is not UTF-8 as a list of bytes.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		var b bytes.Buffer
		for _, one := range v {
			n, ok := one.(json.Number)
			if !ok {
				return "", false
			}
			i, err := n.Int64()
			if err != nil || i < 0 || i > 255 {
				return "", false
			}
			b.WriteByte(byte(i))
		}
		return b.String(), len(v) > 0
	}
	return "", false
}

// A lead is a prefix that something writes before each line of a program. Its groups are called at, from, part, text.
type lead struct {
	is *lazyregexp.Regexp

	// alone is true where nothing else looks like the prefix. Others count when they are before several lines.
	alone bool
}

// iso is a time of RFC 3339, and date one of RFC 3164.
const (
	iso  = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)`
	date = `[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?`
)

// Leads are the prefixes of container runtimes, orchestrators and service managers, by what they begin with.
var (
	dated = []lead{
		{lazyregexp.New(`^(?P<at>` + iso + `) (?P<from>stdout|stderr) (?P<part>[FP])(?::\S*)? ?(?P<text>.*)$`), true}, // CRI
		{lazyregexp.New(`^(?P<at>` + iso + `) (?P<from>(?:[\w.:-]+ )?[\w./@-]+\[[\w.]+\]): ?(?P<text>.*)$`), true},    // journalctl -o short-iso, Heroku
		{lazyregexp.New(`^(?P<at>` + iso + `) (?P<from>[\w.-]+/[\w./-]+) (?P<text>.*)$`), false},                      // aws logs tail
	}
	clocked = []lead{
		{lazyregexp.New(`^\d\d:\d\d:\d\d (?P<from>\w[\w.-]*) +\| ?(?P<text>.*)$`), false}, // foreman, honcho
	}
	bracketed = []lead{
		{lazyregexp.New(`^\[(?P<from>pod/[^\]\s]+)\] ?(?P<text>.*)$`), true},        // kubectl logs --prefix
		{lazyregexp.New(`^\[(?P<from>pid[ =:]?\d+)\] ?(?P<text>.*)$`), true},        // several processes
		{lazyregexp.New(`^\[(?P<from>[\w.-]+[ /][\w.-]+)\] ?(?P<text>.*)$`), false}, // kubetail
	}
	ranked = []lead{
		{lazyregexp.New(`^<\d{1,3}>1 (?P<at>` + iso + `|-) (?P<from>\S+ \S+ \S+) \S+ (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?(?P<text>.*)$`), true}, // RFC 5424
		{lazyregexp.New(`^<\d{1,3}>(?P<at>` + date + `) (?P<from>[\w.:-]+ [\w./@-]+(?:\[\d+\])?): ?(?P<text>.*)$`), true},                    // RFC 3164
	}
	named = []lead{
		{lazyregexp.New(`^(?P<from>[^\t]+\t[^\t]+)\t\x{feff}?(?P<at>` + iso + `) ?(?P<text>.*)$`), true},         // gh run view --log: job and step
		{lazyregexp.New(`^(?P<at>` + date + `) (?P<from>[\w.:-]+ [\w./@-]+(?:\[\d+\])?): ?(?P<text>.*)$`), true}, // journalctl, syslog
		{lazyregexp.New(`^(?P<from>\w[\w.@/-]*) +\| ?(?P<text>.*)$`), false},                                     // docker compose logs, docker service logs
		{lazyregexp.New(`^(?P<from>[a-z0-9.-]+-[a-z0-9]{5} (?:› )?[a-z0-9.-]+) (?:› )?(?P<text>.*)$`), false},    // stern
	}
)

// leadsOf returns the prefixes that a line may have.
func leadsOf(line string) []lead {
	switch c := line[0]; {
	case c >= '0' && c <= '9' && len(line) > 10 && line[10] == 'T':
		return dated
	case c >= '0' && c <= '9' && len(line) > 2 && line[2] == ':':
		return clocked
	case c == '[':
		return bracketed
	case c == '<':
		return ranked
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return named
	}
	return nil // a line of a stack may begin with a space
}

// levelWord is what a line may begin with and nothing that writes prefixes is called.
var levelWord = lazyregexp.New(`^(?i:error|fatal|critical|severe|panic|info|debug|warn|warning|trace|notice)$`)

// prefix takes off what is before the text of a program.
func (u *unwrapper) prefix(line string, ahead []byte) (wrapped, bool) {
	if line == "" {
		return wrapped{}, false
	}
	for _, f := range leadsOf(line) {
		m := f.is.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var w wrapped
		for i, name := range f.is.SubexpNames() {
			switch name {
			case "at":
				w.at = u.time(m[i])
			case "from":
				w.from = m[i]
			case "part":
				w.partial = m[i] == "P"
			case "text":
				w.text = m[i]
			}
		}
		if f.alone || !levelWord.MatchString(w.from) && u.repeats(w.from, ahead) {
			return w, true
		}
	}
	return wrapped{}, false
}

// twice is a line with the time of a collector before that of the program, or before an object of JSON.
var twice = lazyregexp.New(`(?m)^(?:\S+ +(?:\| )?)?` + iso + ` (?:[\[(<]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{"|[EWIF]\d{4} )`)

// stamped is a line with the time of a collector.
var stamped = lazyregexp.New(`^(` + iso + `) ?(.*)$`)

// stamp takes the time of a collector off. A program may write such times itself: it is a collector's where other lines
// have two.
func (u *unwrapper) stamp(from, line string, ahead []byte) (w wrapped, ok bool) {
	if len(line) < 11 || line[10] != 'T' {
		return w, false
	}
	if !u.known[from+" twice"] && !(twice.MatchString(line) && twice.MatchString(string(ahead)) && u.learn(from+" twice")) {
		return w, false
	}
	m := stamped.FindStringSubmatch(line)
	if m == nil {
		return w, false
	}
	return wrapped{at: u.time(m[1]), text: m[2]}, true
}

func (u *unwrapper) time(s string) time.Time {
	if at, ok := parseTime(s); ok {
		return at
	}
	at, _ := withoutYear(s, u.near)
	return at
}

// repeats reports whether a prefix is before other lines as well.
func (u *unwrapper) repeats(from string, ahead []byte) bool {
	if u.known[from] {
		return true
	}
	return beginsLine(ahead, from) && u.learn(from)
}

// learn remembers a prefix, and reports whether there was room for it.
func (u *unwrapper) learn(key string) bool {
	if len(u.known) >= mostKnown {
		return false
	}
	if u.known == nil {
		u.known = map[string]bool{}
	}
	u.known[key] = true
	return true
}

// beginsLine reports whether a line of a text begins with a prefix. A time or a bracket may be before it.
func beginsLine(text []byte, prefix string) bool {
	for line := range bytes.Lines(text) {
		i := bytes.Index(line, []byte(prefix))
		if i >= 0 && i <= 64 && len(line) > i+len(prefix) && strings.IndexByte(" ]|", line[i+len(prefix)]) >= 0 {
			return true
		}
	}
	return false
}
