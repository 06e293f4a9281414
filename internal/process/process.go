// Package process has what a command takes from the process that runs it, as one value: its arguments, environment, folder,
// streams and signals. A test makes such a value for each command that it runs, so that commands run side by side.
package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
)

// A Process is what a command takes from its surroundings.
type Process struct {
	Args    []string // without the name of the program
	Version string   // of the program
	Commit  string   // that the program was built from; empty: not known
	Environ []string // NAME=VALUE; the last value of a name counts
	Dir     string   // where relative names begin; empty: the working directory of this process

	In       io.Reader
	Out, Err io.Writer
	Width    int  // columns of the terminal behind Err; 80 if it is not a terminal
	Terminal bool // Err is a terminal
	Shown    bool // Out is a terminal
	Colour   bool // Out is a terminal whose user has not switched colours off

	// Notify relays signals to a channel, as signal.Notify does. Nil means that none arrive.
	Notify func(c chan<- os.Signal, sig ...os.Signal)
}

// Standard returns the process of this program.
func Standard() *Process {
	s := &Process{Args: os.Args[1:], Environ: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Width: 80, Notify: signal.Notify}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		s.Terminal = true
		if w, _, err := term.GetSize(fd); err == nil && w >= 40 {
			s.Width = min(w, 120)
		}
	}
	s.Shown = term.IsTerminal(int(os.Stdout.Fd()))
	s.Colour = s.Shown && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
	s.Out, s.Err = screen(os.Stdout), screen(os.Stderr)
	return s
}

// Getenv returns the value of a variable of the environment, empty if it has none.
func (s *Process) Getenv(name string) string {
	value, _ := s.LookupEnv(name)
	return value
}

// LookupEnv returns the value of a variable of the environment, and whether it is set.
func (s *Process) LookupEnv(name string) (string, bool) {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(s.Environ[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// Key returns a credential of the environment, without the white space around it.
func (s *Process) Key(name string) string { return strings.TrimSpace(s.Getenv(name)) }

// Path returns the name of a file for the operating system. An empty name stays empty.
func (s *Process) Path(name string) string {
	if s.Dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.Dir, name)
}

// Abs returns the absolute name of a file.
func (s *Process) Abs(name string) (string, error) {
	if s.Dir == "" {
		return filepath.Abs(name)
	}
	return s.Path(filepath.Clean(name)), nil
}

// Signals returns a channel of signals, and what stops them from arriving there.
func (s *Process) Signals(sig ...os.Signal) (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 8)
	if s.Notify != nil {
		s.Notify(c, sig...)
	}
	return c, func() { signal.Stop(c) }
}

// Context returns a context that ends with one of the signals; without any, with an interrupt or SIGTERM.
func (s *Process) Context(sig ...os.Signal) (ctx context.Context, stop context.CancelFunc) {
	if len(sig) == 0 {
		sig = []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	signals, end := s.Signals(sig...)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		end()
	}
}

// screen returns a writer to a terminal that knows its width and makes invisible characters visible. If f is not a
// terminal, it returns f.
func screen(f *os.File) io.Writer {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return f
	}
	out := &report.Screen{Terminal: f}
	if w, _, err := term.GetSize(fd); err == nil && w > 0 {
		out.Columns = max(w, 20)
	}
	return out
}

// File returns the file behind a screen, because a program that decant runs must find the terminal itself.
func File(w io.Writer) io.Writer {
	if s, ok := w.(*report.Screen); ok {
		return s.Terminal
	}
	return w
}

// Control writes what moves the cursor of a terminal.
func Control(w io.Writer, text string) {
	if s, ok := w.(*report.Screen); ok {
		s.Control(text)
		return
	}
	io.WriteString(w, text)
}

// Columns returns how wide help may be.
func (s *Process) Columns() int {
	if r, ok := s.Out.(*report.Screen); ok && r.Columns > 0 {
		return min(max(r.Columns, 40), 120)
	}
	return 80
}

// Flush writes the pending bytes to terminals.
func (s *Process) Flush() {
	for _, w := range [...]io.Writer{s.Out, s.Err} {
		if s, ok := w.(*report.Screen); ok {
			s.Flush()
		}
	}
}

// Say writes content of a conversation.
func (s *Process) Say(text string) error {
	_, err := io.WriteString(s.Out, text)
	return err
}

// Asks reports whether the user can be asked, which needs a terminal for input and messages.
func (s *Process) Asks() bool { return s.Terminal && s.Typed() }

// Typed reports whether input is typed at a terminal.
func (s *Process) Typed() bool {
	f, ok := s.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Confirm asks a question on the terminal and reports whether the answer is yes.
func (s *Process) Confirm(question string) bool {
	fmt.Fprintf(s.Err, "%s [y/N] ", question)
	var answer string
	fmt.Fscanln(s.In, &answer) // no answer means no
	return answer == "y" || answer == "yes" || answer == "Y"
}

// Warn says on standard error that something failed, without the credentials that a message may quote.
func (s *Process) Warn(err error) { fmt.Fprintln(s.Err, "decant:", secret.Mask(err.Error())) }

// Blank writes an empty line between two results.
func (s *Process) Blank() { fmt.Fprintln(s.Out) }

// Note says on standard error what is being done, without the credentials that it may quote.
func (s *Process) Note(format string, args ...any) {
	fmt.Fprintln(s.Err, secret.Mask(fmt.Sprintf(format, args...)))
}

// Preset returns the name of a preset for preset.Load. It may be that of a file.
func (s *Process) Preset(name string) string {
	if preset.IsFile(name) {
		return s.Path(name)
	}
	return name
}
