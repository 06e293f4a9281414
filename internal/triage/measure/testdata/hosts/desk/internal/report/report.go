// Package report writes down the errors of the service, one JSON object a line.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// A Log is where errors are written.
type Log struct {
	out     *json.Encoder
	service string
	release string
}

// New returns a log.
func New(out io.Writer, service, release string) *Log {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return &Log{out: e, service: service, release: release}
}

// A Request is what was being done.
type Request struct {
	Time        time.Time
	Transaction string
	ID          string
}

// A Frame is one level of a stack.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Module   string `json:"module"`
	InApp    bool   `json:"in_app,omitempty"`
}

type event struct {
	ID          string    `json:"id"`
	Time        time.Time `json:"time"`
	Service     string    `json:"service"`
	Environment string    `json:"environment"`
	Release     string    `json:"release"`
	Class       string    `json:"class"`
	Message     string    `json:"message"`
	Transaction string    `json:"transaction"`
	Frames      []Frame   `json:"frames"`
}

// An Error is one that knows where it was made.
type Error struct {
	Class string
	Text  string
	stack []Frame
}

func (e *Error) Error() string { return e.Text }

// Errorf returns an error of a class.
func Errorf(class, format string, args ...any) error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...), stack: stack(1)}
}

// Do does something, and writes down how it fails.
func (l *Log) Do(r Request, f func() error) {
	defer func() {
		if v := recover(); v != nil {
			l.write(r, fmt.Sprintf("%T", v), fmt.Sprint(v), stack(1))
		}
	}()
	err := f()
	var e *Error
	switch {
	case errors.As(err, &e):
		l.write(r, e.Class, err.Error(), e.stack)
	case err != nil:
		l.write(r, fmt.Sprintf("%T", err), err.Error(), nil)
	}
}

func (l *Log) write(r Request, class, text string, frames []Frame) {
	l.out.Encode(event{ID: r.ID, Time: r.Time, Service: l.service, Environment: "production", Release: l.release,
		Class: class, Message: text, Transaction: r.Transaction, Frames: frames})
}

// stack returns the stack of its caller, the innermost level first, without those of the runtime and of this package.
func stack(skip int) (out []Frame) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(skip+2, pcs)])
	for {
		f, more := frames.Next()
		module, _, _ := strings.Cut(f.Function, ".")
		if i := strings.LastIndex(f.Function, "/"); i >= 0 {
			name, _, _ := strings.Cut(f.Function[i:], ".")
			module = f.Function[:i] + name
		}
		if f.File != "" && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasSuffix(module, "/report") {
			out = append(out, Frame{File: f.File, Line: f.Line, Function: f.Function, Module: module,
				InApp: module == "main" || strings.HasPrefix(module, "github.com/acme/desk/")})
		}
		if !more {
			return out
		}
	}
}
