package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/secret"
)

// Command is a program that prints events as JSON lines. It learns the window from its environment: DECANT_SINCE and DECANT_UNTIL, in the
// form of RFC 3339, empty where the window is open.
type Command struct {
	Args    []string      // the program and what it is given; no shell reads it
	Dir     string        // where it runs; empty: here
	Env     []string      // its environment; nil: that of this process
	Timeout time.Duration // 0: two minutes
}

// Name implements [Source]. It leaves out what the program is given, which may hold a credential.
func (c *Command) Name() string {
	if len(c.Args) == 0 {
		return "command"
	}
	return "command " + c.Args[0]
}

// Events implements [Source]. A program that fails is an error with the end of what it wrote to standard error.
func (c *Command) Events(ctx context.Context, in Window) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := c.Check(ctx); err != nil {
			yield(Event{}, err)
			return
		}
		if err := c.run(ctx, in, yield); err != nil {
			yield(Event{}, err)
		}
	}
}

func (c *Command) run(ctx context.Context, in Window, yield func(Event, error) bool) error {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s has not ended after %v", c.Name(), timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	errs := &tail{most: 2 << 10}
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = c.Dir, c.Env, errs, 5*time.Second
	cmd.Env = append(cmd.Environ(), "DECANT_SINCE="+form(in.Since), "DECANT_UNTIL="+form(in.Until))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run %s: %w", c.Name(), err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", c.Name(), err)
	}
	done := c.read(ctx, in, out, yield)
	if !done {
		cancel() // nobody reads what else it prints
	}
	err = cmd.Wait()
	switch {
	case !done:
		return nil
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("run %s: %w", c.Name(), err)
		if printed := secret.Mask(strings.TrimSpace(string(errs.text))); printed != "" {
			err = &printedError{err, printed}
		}
		return err
	}
	return nil
}

// A printedError is a program that has failed, with the end of what it has printed.
type printedError struct {
	err     error
	printed string
}

func (e *printedError) Error() string { return e.err.Error() + ": " + e.printed }
func (e *printedError) Unwrap() error { return e.err }

// Unprinted returns what an error says without what programs have printed. That may hold anything of the machine, and
// is for its people alone.
func Unprinted(err error) string {
	text := err.Error()
	var walk func(error)
	walk = func(err error) {
		if e, ok := err.(*printedError); ok {
			text = strings.ReplaceAll(text, ": "+e.printed, "")
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				walk(one)
			}
		}
	}
	walk(err)
	return text
}

// read yields what the program prints, and reports whether it was read to its end.
func (c *Command) read(ctx context.Context, in Window, out io.Reader, yield func(Event, error) bool) bool {
	stopped := false
	ended := readAll(context.WithoutCancel(ctx), c.Name(), time.Now(), out, anyLines, func(e Event, err error) bool {
		if err != nil {
			if _, ok := errors.AsType[*LineError](err); !ok && ctx.Err() != nil {
				return true // the pipe was closed, and run tells why
			}
		}
		stopped = !(err == nil && !in.Contains(e.Time) || yield(e, err))
		return !stopped
	})
	return ended || !stopped
}

// Check implements [Source]. It looks for the program and does not run it.
func (c *Command) Check(context.Context) error {
	if len(c.Args) == 0 {
		return errors.New("source command: no program; name it and what it is given as a list")
	}
	if c.Dir != "" && strings.HasPrefix(c.Args[0], ".") {
		return nil // it is looked for where it runs
	}
	if _, err := exec.LookPath(c.Args[0]); err != nil {
		return fmt.Errorf("source command: %w; install it or name its path", err)
	}
	return nil
}

func form(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// A tail keeps the end of what is written to it.
type tail struct {
	text []byte
	most int
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text) - t.most; n > 0 {
		t.text = bytes.Clone(t.text[n:])
	}
	return len(p), nil
}
