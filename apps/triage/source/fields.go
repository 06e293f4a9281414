package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names that loggers have for the fields of an event. The first that is there counts.
var (
	timeNames        = []string{"time", "timestamp", "@timestamp", "ts", "datetime", "asctime", "date", "created_at", "t"}
	levelNames       = []string{"level", "severity", "levelname", "log.level", "lvl", "loglevel"}
	classNames       = []string{"class", "error_class", "error.class", "errorClass", "exception_class", "exception.class", "exception.type", "error.type", "error.kind", "exc_type", "error_type", "exceptionClass"}
	messageNames     = []string{"message", "msg", "event", "textPayload", "error_message", "error.message", "errorMessage", "exception.message", "exc_value"}
	textNames        = []string{"error", "err", "exception", "exc"}
	stackNames       = []string{"stack", "stacktrace", "stack_trace", "stackTrace", "backtrace", "traceback", "exc_info", "exc_text", "error.stack_trace", "error.stack", "exception.stacktrace", "errorVerbose", "error_verbose"}
	serviceNames     = []string{"service", "service.name", "app", "app_name", "appName", "application"}
	environmentNames = []string{"environment", "env", "service.environment", "deployment.environment", "deployment.environment.name"}
	releaseNames     = []string{"release", "version", "service.version", "app_version", "commit", "git_sha", "revision", "git.commit.sha"}
	transactionNames = []string{"transaction", "transactionName", "transaction.name", "http.route", "route", "endpoint", "operation", "action"}
	idNames          = []string{"id", "event_id", "eventID", "error.id", "uuid"}
)

// An object is one object of JSON whose numbers are json.Number.
type object map[string]any

// errLevel means that a line tells of something that is no error.
var errLevel = errors.New("not an error")

// decode reads one line of JSON.
func decode(line []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value; want one object on each line")
	}
	if o == nil {
		return nil, errors.New("not a JSON object: null")
	}
	return o, nil
}

// tells reports whether an object is an event of a logger: it has a level, a class, or a stack.
func (o object) tells() bool {
	_, ok := o.first(levelNames)
	return ok || o["class"] != nil || o["frames"] != nil || o.stack() != "" || o.text(classNames) != ""
}

// child returns an object that is a field.
func (o object) child(name string) object {
	in, _ := o[name].(map[string]any)
	return in
}

// readObject returns the event that an object tells, or errLevel when it tells of none. put is the time of an object
// that has none; zero: it must have one.
func readObject(o object, put time.Time) (Event, error) {
	e, err := o.error(0)
	if err != nil {
		return e, err
	}
	at, ok := o.first(timeNames)
	switch {
	case ok:
		e.Time, err = timeOf(at)
	case put.IsZero():
		return e, fmt.Errorf("no time; want a field such as %q", timeNames[0])
	default:
		e.Time = put
	}
	if err != nil {
		return e, err
	}
	bound(&e)
	e.Attributes = o.rest()
	return e, nil
}

// error reads class, message, frames and causes of an object that is depth causes deep.
func (o object) error(depth int) (e Event, err error) {
	e.Class, e.Message, e.Transaction = o.text(classNames), o.text(messageNames), o.text(transactionNames)
	e.Service, e.Environment, e.Release, e.ID = o.text(serviceNames), o.text(environmentNames), o.text(releaseNames), o.text(idNames)
	if s, ok := o["service"].(map[string]any); ok {
		e.Service, e.Release = object(s).text([]string{"name"}), object(s).text([]string{"version"})
	}
	if o["frames"] != nil || o["class"] != nil {
		e.URL = o.text([]string{"url"}) // of a logger, it is that of the request
	}
	stack := o.stack()
	for _, name := range textNames {
		switch v := o[name].(type) {
		case map[string]any:
			o.nested(&e, v, &stack)
		case string:
			if stack == "" && strings.Contains(v, "\n") {
				stack = v
			} else if e.Class == "" || e.Message == "" {
				e.Message = joined(e.Message, v)
			}
		}
	}
	if stack == "" && strings.Contains(e.Message, "\n") {
		if parsed, ok := Parse(e.Message); ok {
			stack, e.Message = e.Message, parsed.Message // a program that puts its stack into the message
		}
	}
	if !o.isError(e.Class != "" || stack != "" || o["frames"] != nil) {
		return e, errLevel
	}
	if err := o.frames(&e, stack, depth); err != nil {
		return e, err
	}
	if e.Class == "" && e.Message == "" {
		return e, errors.New("neither class nor message; want fields such as \"class\" and \"message\"")
	}
	return e, nil
}

// nested reads the error that an object has as a field of its own, as pino, Datadog and the Elastic Common Schema write it.
func (o object) nested(e *Event, in object, stack *string) {
	if c := in.text([]string{"type", "class", "kind", "name", "code"}); e.Class == "" {
		e.Class = c
	}
	if m := in.text([]string{"message", "msg", "value"}); m != "" {
		e.Message = joined(e.Message, m)
	}
	if s := in.stack(); *stack == "" {
		*stack = s
	}
}

// frames fills in the frames and the cause: the own form, or what a stack tells.
func (o object) frames(e *Event, stack string, depth int) error {
	if fs, ok := o["frames"]; ok && fs != nil {
		text, err := json.Marshal(fs)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &e.Frames); err != nil {
			return fmt.Errorf("frames: %w", err)
		}
	} else if stack != "" {
		parsed, ok := Parse(stack)
		if ok {
			e.Frames, e.Cause = parsed.Frames, parsed.Cause
		}
		if e.Class == "" && ok {
			e.Class = parsed.Class
		}
		if e.Message == "" {
			e.Message = parsed.Message
		} else if ok && parsed.Message != "" && parsed.Class == e.Class {
			e.Message = joined(e.Message, parsed.Message)
		}
	}
	if c, ok := o["cause"].(map[string]any); ok && depth < mostCauses {
		cause, err := object(c).error(depth + 1)
		if err != nil {
			return fmt.Errorf("cause: %w", err)
		}
		e.Cause = &cause
	}
	return nil
}

// joined returns what was logged with the error behind it.
func joined(message, err string) string {
	switch {
	case message == "" || strings.Contains(err, message):
		return err
	case err == "" || strings.Contains(message, err):
		return message
	}
	return message + ": " + err
}

// isError reports whether the level is that of an error. Without one, everything is.
func (o object) isError(told bool) bool {
	v, ok := o.first(levelNames)
	if !ok {
		return true
	}
	switch v := v.(type) {
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n >= 50 || n < 4
		}
		return isErrorLevel(v)
	case json.Number:
		n, err := v.Int64()
		return err == nil && (n >= 50 || n < 4 || n == 40 && told) // pino and bunyan have 50 and 60, syslog 0 to 3
	}
	return true
}

// isErrorLevel reports whether a word is the level of an error.
func isErrorLevel(word string) bool {
	word, _, _ = strings.Cut(strings.ToUpper(strings.Trim(word, "[]<>():| ")), "+")
	return slices.Contains([]string{"ERROR", "ERR", "FATAL", "PANIC", "DPANIC", "CRITICAL", "CRIT", "SEVERE", "ALERT", "EMERG", "EMERGENCY", "ERRO", "FATA", "EROR"}, word)
}

// first returns the first of some fields that is there. A name with points may be a way through objects.
func (o object) first(names []string) (any, bool) {
	for _, n := range names {
		if v, ok := o[n]; ok && v != nil && v != "" {
			return v, true
		}
		outer, inner, ok := strings.Cut(n, ".")
		if in, is := o[outer].(map[string]any); ok && is {
			if v, ok := object(in).first([]string{inner}); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// text returns the first of some fields that holds a text or a number.
func (o object) text(names []string) string {
	for _, n := range names {
		v, _ := o.first([]string{n})
		switch v := v.(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// stack returns the text of a stack; one that is a list has a frame in each of its texts.
func (o object) stack() string {
	for _, n := range stackNames {
		v, _ := o.first([]string{n})
		switch v := v.(type) {
		case string:
			return v
		case []any:
			var b strings.Builder
			for _, line := range v {
				if s, ok := line.(string); ok && b.Len() < mostRecord {
					b.WriteString(s + "\n")
				}
			}
			return b.String()
		}
	}
	return ""
}

// known are the fields that readObject reads.
var known = func() map[string]bool {
	out := map[string]bool{"frames": true, "cause": true, "attributes": true, "url": true}
	for _, names := range [][]string{timeNames, levelNames, classNames, messageNames, textNames, stackNames, serviceNames, environmentNames, releaseNames, transactionNames, idNames} {
		for _, n := range names {
			out[n] = true
		}
	}
	return out
}()

// rest returns what else an object tells, in texts.
func (o object) rest() map[string]string {
	out := map[string]string{}
	add := func(from object, leaveOut map[string]bool) {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			if leaveOut[name] || len(out) == mostAttributes {
				continue
			}
			switch v := from[name].(type) {
			case string:
				out[cut(name, 100)] = cut(v, mostAttribute)
			case json.Number:
				out[cut(name, 100)] = cut(v.String(), mostAttribute)
			case bool:
				out[cut(name, 100)] = strconv.FormatBool(v)
			}
		}
	}
	if in, ok := o["attributes"].(map[string]any); ok {
		add(in, nil)
	}
	add(o, known)
	if o["frames"] == nil && o["class"] == nil {
		if u, ok := o["url"].(string); ok {
			out["url"] = cut(u, mostAttribute)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
