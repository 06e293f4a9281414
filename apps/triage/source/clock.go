package source

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// stamp finds the time at the beginning of a line. The forms are those of layouts.
var stamp = lazyregexp.New(`^(?:[\[(<]|(?:time|ts|timestamp)="?)?(` +
	`\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?(?:Z\b|UTC\b|[+-]\d{2}:?\d{2}))?` + // ISO 8601, Go's log, Python, log4j
	`|\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}` + // access logs
	`|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?: [A-Z]{3,4})?(?: \d{4})?` + // syslog, ctime, Apache
	`|[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}:\d{2}:\d{2} [AP]M` + // Java's own
	`)[\])>"]?`)

// layouts are the forms of a time, after commas have become points and slashes of dates dashes.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02T15:04:05 Z0700", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05UTC",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "02/Jan/2006:15:04:05 -0700", time.RFC1123, time.RFC1123Z, time.ANSIC, "Mon Jan _2 15:04:05 MST 2006",
	"Mon Jan _2 15:04:05.999999999 2006", "Jan 2. 2006 3:04:05 PM", "Jan _2 15:04:05 2006", "2006-01-02",
}

// split returns the time that a line begins with and what follows it, without the space between them. near completes a time without a
// year. A time without a zone is UTC.
func split(line string, near time.Time) (at time.Time, rest string, ok bool) {
	m := stamp.FindStringSubmatchIndex(line[:min(len(line), 80)])
	if m == nil {
		return at, line, false
	}
	if at, ok = parseTime(line[m[2]:m[3]]); !ok {
		if at, ok = withoutYear(line[m[2]:m[3]], near); !ok {
			return at, line, false
		}
	}
	rest = strings.TrimPrefix(line[m[1]:], " ")
	return at, rest, true
}

// parseTime reads a time in any of the layouts.
func parseTime(s string) (time.Time, bool) {
	s = strings.Replace(strings.TrimSpace(s), ",", ".", 1)
	if len(s) > 10 && s[4] == '/' {
		s = s[:4] + "-" + s[5:7] + "-" + s[8:]
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// withoutYear reads a time of syslog: the newest one of its kind that is not after near.
func withoutYear(s string, near time.Time) (time.Time, bool) {
	if near.IsZero() {
		near = time.Now()
	}
	for _, l := range []string{"Jan _2 15:04:05", "Mon Jan _2 15:04:05"} {
		t, err := time.Parse(l, s)
		if err != nil {
			continue
		}
		t = t.AddDate(near.Year()-t.Year(), 0, 0)
		if t.After(near.Add(24 * time.Hour)) {
			t = t.AddDate(-1, 0, 0)
		}
		return t, true
	}
	return time.Time{}, false
}

// timeOf reads a time of JSON: a text in one of the layouts, or a number of seconds, milliseconds, microseconds or nanoseconds since
// 1970, whichever makes a year of this century.
func timeOf(v any) (time.Time, error) {
	switch v := v.(type) {
	case string:
		if t, ok := parseTime(v); ok {
			return t, nil
		}
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return sinceEpoch(n)
		}
		return time.Time{}, fmt.Errorf("time %q is not one; want such as 2026-11-23T02:11:09Z", cut(v, 60))
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			return time.Time{}, fmt.Errorf("time %s: %w", cut(v.String(), 60), err)
		}
		if i, err := v.Int64(); err == nil && n >= 1e17 {
			return time.Unix(0, i).UTC(), nil
		}
		return sinceEpoch(n)
	}
	return time.Time{}, fmt.Errorf("time is a %T; want a text or a number", v)
}

func sinceEpoch(n float64) (time.Time, error) {
	switch {
	case n >= 1e8 && n < 1e11:
		return time.UnixMicro(int64(n * 1e6)).UTC(), nil
	case n >= 1e11 && n < 1e14:
		return time.UnixMicro(int64(n * 1e3)).UTC(), nil
	case n >= 1e14 && n < 1e17:
		return time.UnixMicro(int64(n)).UTC(), nil
	case n >= 1e17 && n < 9e18:
		return time.Unix(0, int64(n)).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("time %g is none since 1970 in seconds, milliseconds, microseconds or nanoseconds", n)
}
