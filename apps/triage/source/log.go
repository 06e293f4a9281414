package source

import (
	"context"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// Log is plain log files, in the forms that the package describes.
type Log struct {
	Files   []string  // as those of JSONL
	In      io.Reader // standard input
	Service string    // the program that wrote them; empty: unknown
}

// Name implements [Source].
func (l *Log) Name() string { return "log " + strings.Join(l.Files, " ") }

// Events implements [Source].
func (l *Log) Events(ctx context.Context, in Window) iter.Seq2[Event, error] {
	return readFiles(ctx, l.Files, l.In, in, func(ctx context.Context, name string, at time.Time, r io.Reader, yield func(Event, error) bool) bool {
		return readAll(ctx, name, at, r, logLines, func(e Event, err error) bool {
			if err == nil && e.Service == "" {
				e.Service = l.Service
			}
			return yield(e, err)
		})
	})
}

// Check implements [Source].
func (l *Log) Check(context.Context) error { return checkFiles(l.Files) }

// A record is what belongs together in a log: a line with what follows it.
type record struct {
	file   time.Time // of what has no time
	at     time.Time // of the newest line with one
	own    bool      // lines of this stream have times of their own
	put    time.Time // when the newest line was collected
	lines  []string
	parts  strings.Builder // of a line that was collected in pieces
	size   int
	stack  bool // it has a stack already
	open   bool // the last lines are those of a traceback that has no end yet
	each   bool // each of its lines has a time
	severe bool // the collector has noted that it is an error
}

// starts are lines that begin a record although they have no time.
var starts = lazyregexp.New(`^(?:panic: |fatal error: |Exception in thread |(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|INFO|DEBUG|WARN|WARNING|TRACE|NOTICE)\b|[EWIF]\d{4} )`)

// follows are lines that belong to the one before, whether or not each of them has a time.
var follows = lazyregexp.New("^(?:\\s+|$|goroutine \\d+|created by |\\[signal |Caused by: |Suppressed: |\\.\\.\\. \\d+|[\\w./*()\\-]+\\(.*\\)$|exit status \\d|from \\S+:\\d+|\\S+\\.rb:\\d+:in |During handling of the above|The above exception was|" + regexp.QuoteMeta(traceback) + ")")

// knows reports whether a line looks like one of a log.
func (r *record) knows(line string) bool {
	_, _, timed := split(line, r.file)
	return timed || starts.MatchString(line) || level.MatchString(line) || holdsAny(line, traceback)
}

// add takes one line without its wrapping, and yields the record before it when the line begins a new one.
func (r *record) add(w wrapped, yield func(Event, error) bool) bool {
	at, rest, timed := split(w.text, r.file)
	text := w.text
	if timed {
		text, r.own = rest, true
	}
	apart := !r.own && w.at.Sub(r.put) > oneBreath || w.severe != r.severe
	r.put = w.at
	if len(r.lines) > 0 && r.takes(text, timed, apart) {
		r.append(text)
		return true
	}
	if !r.flush(yield) {
		return false
	}
	switch {
	case timed:
		r.at = at
	case !w.at.IsZero():
		r.at = w.at
	}
	r.severe = w.severe
	r.append(text)
	return true
}

// oneBreath is how far apart a program writes the lines of one record, where only the collector notes times.
const oneBreath = 20 * time.Millisecond

// takes reports whether a line belongs to the record. It is apart when the collector says so.
func (r *record) takes(text string, timed, apart bool) bool {
	switch {
	case r.stack && text == traceback:
		return chained.MatchString(r.lastWords())
	case follows.MatchString(text):
		r.each = r.each || timed
		return true
	case r.open:
		return !timed || r.each
	}
	return !timed && !apart && !r.begins(text)
}

// chained is what stands between the tracebacks of an error and its cause.
var chained = lazyregexp.New(`^(?:During handling of the above|The above exception was)`)

// lastWords returns the newest line that is not empty.
func (r *record) lastWords() string {
	for _, l := range slices.Backward(r.lines) {
		if strings.TrimSpace(l) != "" {
			return l
		}
	}
	return ""
}

// begins reports whether a line without a time begins a record.
func (r *record) begins(line string) bool {
	return starts.MatchString(line) || r.stack && (rubyHead.MatchString(line) || isErrorLine(line) || heads.MatchString(line) && framed.MatchString(r.lastWords()))
}

// framed are the last lines of errors of Node and Java, and what Node prints before one that nobody has caught.
var framed = lazyregexp.New(`^\s*(?:at |\.\.\. \d|\}$|\^+$)`)

// heads are the first lines of errors of Node and Java, behind whose frames another error begins.
var heads = lazyregexp.New(`^(?:[\w$]+\.)*(?:[A-Z][\w$]*)?(?:Error|Exception)(?: \[\w+\])?(?:: |$)`)

func (r *record) append(line string) {
	if strings.HasSuffix(strings.TrimSpace(line), traceback) {
		r.open, r.stack = true, true
	} else if r.open && line != "" && line[0] != ' ' && line[0] != '\t' {
		r.open = false
	}
	if r.stack || line == "" || line[0] > ' ' && !strings.Contains(line, ":in ") {
		// known, or none
	} else if nodeAt.MatchString(line) || javaAt.MatchString(line) || goFile.MatchString(line) || rubyHead.MatchString(line) {
		r.stack = true
	}
	if r.size += len(line) + 1; r.size <= mostRecord {
		r.lines = append(r.lines, line)
	} else if !r.stack {
		r.size, r.lines = len(line)+1, append(r.lines[:min(1, len(r.lines))], line) // a stack may still follow
	}
}

// flush yields the event of the record, if it is one, and begins a new record.
func (r *record) flush(yield func(Event, error) bool) bool {
	lines, severe := r.lines, r.severe
	*r = record{file: r.file, at: r.at, own: r.own, put: r.put}
	e, ok := readRecord(lines)
	if !ok && severe && len(lines) > 0 && !level.MatchString(lines[0]) { // what the program says itself counts more
		e = Event{Message: cut(strings.ToValidUTF8(strings.TrimSpace(lines[0]), "\uFFFD"), mostMessage)}
		ok = e.Message != ""
	}
	if !ok {
		return true
	}
	e.Time = r.at
	return yield(e, nil)
}
