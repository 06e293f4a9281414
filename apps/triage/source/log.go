package source

import (
	"context"
	"errors"
	"fmt"
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
		return readLog(ctx, name, at, r, func(e Event, err error) bool {
			if err == nil && e.Service == "" {
				e.Service = l.Service
			}
			return yield(e, err)
		})
	})
}

// Check implements [Source].
func (l *Log) Check(context.Context) error { return checkFiles(l.Files) }

// readLog is a readFunc for logs. at is the time of what has none.
func readLog(ctx context.Context, name string, at time.Time, r io.Reader, yield func(Event, error) bool) bool {
	lines, rec := newLiner(r), record{file: at, at: at}
	for ctx.Err() == nil {
		line, err := lines.next()
		switch {
		case err == io.EOF:
			return rec.flush(yield)
		case errors.Is(err, errLong):
			continue // no line of a stack is so long, and a log may hold anything
		case err != nil:
			yield(Event{}, fmt.Errorf("read %s: %w", name, err))
			return false
		case len(line) > 0 && line[0] == '{' && line[len(line)-1] == '}':
			if !rec.flush(yield) || !rec.json(line, yield) {
				return false
			}
		case !rec.add(string(line), yield):
			return false
		}
	}
	yield(Event{}, ctx.Err())
	return false
}

// A record is what belongs together in a log: a line with what follows it.
type record struct {
	file  time.Time // of what has no time
	at    time.Time // of the newest line with one
	own   bool      // the record itself has one
	lines []string
	size  int
	stack bool // it has a stack already
	open  bool // the last lines are those of a traceback that has no end yet
	each  bool // each of its lines has a time
}

// starts are lines that begin a record although they have no time.
var starts = lazyregexp.New(`^(?:panic: |fatal error: |Exception in thread |(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|INFO|DEBUG|WARN|WARNING|TRACE|NOTICE)\b|[EWIF]\d{4} )`)

// follows are lines that belong to the one before, whether or not each of them has a time.
var follows = lazyregexp.New("^(?:\\s+|$|goroutine \\d+|created by |\\[signal |Caused by: |Suppressed: |\\.\\.\\. \\d+|[\\w./*()\\-]+\\(.*\\)$|exit status \\d|from \\S+:\\d+|\\S+\\.rb:\\d+:in |During handling of the above|The above exception was|" + regexp.QuoteMeta(traceback) + ")")

// add takes one line, and yields the record before it when the line begins a new one.
func (r *record) add(line string, yield func(Event, error) bool) bool {
	at, rest, timed := split(line, r.file)
	text := line
	if timed {
		text = rest
	}
	if len(r.lines) > 0 && r.takes(text, timed) {
		r.append(text)
		return true
	}
	if !r.flush(yield) {
		return false
	}
	if timed {
		r.at, r.own = at, true
	}
	r.append(text)
	return true
}

// takes reports whether a line belongs to the record.
func (r *record) takes(text string, timed bool) bool {
	switch {
	case r.stack && text == traceback:
		return chained.MatchString(r.lastWords())
	case follows.MatchString(text):
		r.each = r.each || timed
		return true
	case r.open:
		return !timed || r.each
	}
	return !timed && !r.begins(text)
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
	}
}

// json yields the event of a line of JSON. One that tells of none, or is of another kind, is left out.
func (r *record) json(line []byte, yield func(Event, error) bool) bool {
	o, err := decode(line)
	if err != nil {
		return true
	}
	if _, ok := o.first(levelNames); !ok && o["class"] == nil && o.stack() == "" {
		return true // data that was printed
	}
	e, err := readObject(o)
	if err != nil {
		return true
	}
	r.at = e.Time
	return yield(e, nil)
}

// flush yields the event of the record, if it is one, and begins a new record.
func (r *record) flush(yield func(Event, error) bool) bool {
	lines := r.lines
	*r = record{file: r.file, at: r.at}
	e, ok := readRecord(lines)
	if !ok {
		return true
	}
	e.Time = r.at
	return yield(e, nil)
}
