// Package source reads the errors of programs in production from where they are kept: files of JSON lines, plain logs, the output of a
// command, New Relic, Sentry.
//
// # JSON lines
//
// A line is one event as package event writes it: {"time": "2026-11-23T02:11:09Z", "class": "KeyError", "message": "...", "frames": [...]}.
// Lines of common loggers are read too: zap, slog, logrus, pino, bunyan, those of Python that write JSON, the Elastic Common Schema. Of
// those with a level only what is an error counts. A stack that is a text is parsed like one in a log.
//
// # Logs
//
// A plain log is read record by record. A record begins with a line that has a time, and ends before the next one. A
// record with the level of an error or with a stack is an event: Go, Python, Java, Ruby, Node. One without a time, such
// as a panic, has that of the record before it, or of the file. Lines of JSON between them are read as above.
//
// What a container runtime, an orchestrator or a service manager writes around each line is taken off: objects of
// Docker, journald, Loki and Fluent Bit; the prefixes of CRI, Compose, kubectl, stern, syslog (RFC 3164 and 5424) and
// others; escape sequences. Lines of one container or process are put together. Text may be in UTF-8 or UTF-16.
//
// Everything here is data from outside, and bounded: see the constants.
package source

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/process"
)

// A Source is where errors are kept.
type Source interface {
	// Name says what it is, for people: "sentry acme", "log /var/log/app.log".
	Name() string

	// Events yields what happened in the window, in the order in which the source tells it. An error of type *LineError stands for one
	// event that cannot be read, and the next ones follow it; any other error is the last thing that comes.
	Events(ctx context.Context, in Window) iter.Seq2[Event, error]

	// Check reports whether the source can be read, with its credential and every right that Events needs. The error says what to do.
	Check(ctx context.Context) error
}

// Through makes the sources that are services of the web call them through a transport.
func Through(via http.RoundTripper, all ...Source) {
	for _, s := range all {
		switch s := s.(type) {
		case *NewRelic:
			s.Via = via
		case *Sentry:
			s.Via = via
		}
	}
}

// A Window is a stretch of time, half open. A zero Since or Until leaves that side open.
type Window struct{ Since, Until time.Time }

// Contains reports whether t is in the window.
func (w Window) Contains(t time.Time) bool {
	return (w.Since.IsZero() || !t.Before(w.Since)) && (w.Until.IsZero() || t.Before(w.Until))
}

// The most that is read of one thing. What is longer is cut, and a line that is longer cannot be read.
const (
	mostLine       = 1 << 20 // bytes of a line
	mostRecord     = 64 << 10
	mostFrames     = 200
	mostMessage    = 16 << 10
	mostAttributes = 64
	mostAttribute  = 1 << 10
	mostCauses     = 8
)

// A LineError says that one event cannot be read.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

// Error names file and line.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// cut returns s, or its first n bytes without half a letter at their end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// Files returns sources for files: those whose names end in .jsonl, .ndjson or .json (before .gz) have JSON lines, all
// others are logs.
func Files(p *process.Process, names []string) (out []Source) {
	var logs, lines []string
	for _, f := range paths(p, names) {
		switch filepath.Ext(strings.TrimSuffix(f, ".gz")) {
		case ".jsonl", ".ndjson", ".json":
			lines = append(lines, f)
		default:
			logs = append(logs, f)
		}
	}
	if len(lines) > 0 {
		out = append(out, &JSONL{Files: lines, In: p.In})
	}
	if len(logs) > 0 {
		out = append(out, &Log{Files: logs, In: p.In})
	}
	return out
}

// paths returns names of files for the operating system. A name "-" is standard input.
func paths(p *process.Process, names []string) (out []string) {
	for _, name := range names {
		if name != "-" {
			name = p.Path(name)
		}
		out = append(out, name)
	}
	return out
}
