package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/wire"
)

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

// document reads and parses the file of the given name, or standard input for "-". The format is
// found in the content unless one is given.
func (s *streams) document(name, format string) (*wire.Document, error) {
	src, err := s.bytes(name)
	if err != nil {
		return nil, inputError{err}
	}
	doc, err := parse(src, format)
	if err != nil {
		return nil, inputError{fmt.Errorf("%s: %w", name, err)}
	}
	return doc, nil
}

// isFile reports whether a name, which may be a file's or a conversation's, is a file's: the file exists, or
// the name looks like one.
func isFile(name string) bool {
	if info, err := os.Stat(name); err == nil {
		return !info.IsDir()
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".gz":
		return true
	}
	return name == "-" || strings.ContainsAny(name, `/\`)
}

func (s *streams) bytes(name string) ([]byte, error) {
	r := s.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a directory: name the files in it, or use decant replay, which looks for sessions", name)
		}
		r = f
	}
	src, err := wire.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return src, nil
}

func parse(src []byte, format string) (*wire.Document, error) {
	if format == "" {
		return wire.Parse(src)
	}
	return wire.ParseAs(wire.Format(format), src)
}

// errSkipped says that some of several inputs could not be read. The reasons were printed before.
var errSkipped = errors.New("some files were left out")

// warn says on standard error that something failed, without the credentials that a message may quote.
func (s *streams) warn(err error) { fmt.Fprintln(s.err, "decant:", secret.Mask(err.Error())) }

// blank writes an empty line between two results.
func (s *streams) blank() { fmt.Fprintln(s.out) }
