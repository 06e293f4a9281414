package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	width    int  // columns of the terminal behind err; 80 if it is not a terminal
	terminal bool // err is a terminal
	shown    bool // out is a terminal
	colour   bool // out is a terminal whose user has not switched colours off
}

// standard returns the streams of the process.
func standard() *streams {
	s := &streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, width: 80}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		s.terminal = true
		if w, _, err := term.GetSize(fd); err == nil && w >= 40 {
			s.width = min(w, 120)
		}
	}
	s.shown = term.IsTerminal(int(os.Stdout.Fd()))
	s.colour = s.shown && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	s.out, s.err = screen(os.Stdout), screen(os.Stderr)
	return s
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

// file returns the file behind a screen, because a program that decant runs must find the terminal itself.
func file(w io.Writer) io.Writer {
	if s, ok := w.(*report.Screen); ok {
		return s.Terminal
	}
	return w
}

// control writes what moves the cursor of a terminal.
func control(w io.Writer, text string) {
	if s, ok := w.(*report.Screen); ok {
		s.Control(text)
		return
	}
	io.WriteString(w, text)
}

// columns returns how wide help may be.
func (s *streams) columns() int {
	if r, ok := s.out.(*report.Screen); ok && r.Columns > 0 {
		return min(max(r.Columns, 40), 120)
	}
	return 80
}

// flush writes the pending bytes to terminals.
func (s *streams) flush() {
	for _, w := range [...]io.Writer{s.out, s.err} {
		if s, ok := w.(*report.Screen); ok {
			s.Flush()
		}
	}
}

// say writes content of a conversation.
func (s *streams) say(text string) error {
	_, err := io.WriteString(s.out, text)
	return err
}

// asks reports whether the user can be asked, which needs a terminal for input and messages.
func (s *streams) asks() bool { return s.terminal && s.typed() }

// typed reports whether input is typed at a terminal.
func (s *streams) typed() bool {
	f, ok := s.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// confirm asks a question on the terminal and reports whether the answer is yes.
func (s *streams) confirm(question string) bool {
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	var answer string
	fmt.Fscanln(s.in, &answer) // no answer means no
	return answer == "y" || answer == "yes" || answer == "Y"
}

// warn says on standard error that something failed, without the credentials that a message may quote.
func (s *streams) warn(err error) { fmt.Fprintln(s.err, "decant:", secret.Mask(err.Error())) }

// blank writes an empty line between two results.
func (s *streams) blank() { fmt.Fprintln(s.out) }

// note says on standard error what is being done, without the credentials that it may quote.
func (s *streams) note(format string, args ...any) {
	fmt.Fprintln(s.err, secret.Mask(fmt.Sprintf(format, args...)))
}
