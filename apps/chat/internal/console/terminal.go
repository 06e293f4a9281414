package console

import (
	"bufio"
	"errors"
	"io"

	"golang.org/x/term"
)

// A terminal is where somebody types and reads.
type terminal interface {
	io.Writer                       // whole lines, above the one that is being typed
	prompt(string)                  // what stands before what is typed from now on
	read() (text string, err error) // what is typed next; io.EOF: nothing more
}

// A rich terminal has lines that can be edited while others are written above them.
type rich struct {
	*term.Terminal
	pastes *pastes
}

// An input is what a line editor reads and where it draws.
type input struct {
	io.Reader
	io.Writer
}

// newRich returns a terminal on a device that passes on each key.
func newRich(in io.Reader, out io.Writer, interrupts chan<- struct{}, h *history, complete func(string, int) (string, int, bool)) *rich {
	p := &pastes{}
	dev := &input{newKeyboard(in, interrupts, p), out}
	t := term.NewTerminal(dev, "")
	t.History = h
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return complete(line, pos)
	}
	return &rich{Terminal: t, pastes: p}
}

func (r *rich) prompt(text string) { r.SetPrompt(text) }

// read returns the next line, with what was pasted into it. A line that ends with a backslash goes on on the next one.
func (r *rich) read() (string, error) {
	text := ""
	for {
		line, err := r.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return text + line, err
		}
		if n := len(line); n > 0 && line[n-1] == '\\' {
			text += meant(line[:n-1]) + "\n"
			continue
		}
		return r.pastes.fill(text + meant(line)), nil
	}
}

// A plain terminal only writes and reads lines, for pipes, and for terminals that cannot do more.
type plain struct {
	io.Writer
	lines *bufio.Reader
}

func (p *plain) prompt(string) {}

func (p *plain) read() (string, error) {
	line, err := p.lines.ReadString('\n')
	if err != nil && line != "" {
		err = nil
	}
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line, err
}
