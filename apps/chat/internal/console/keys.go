package console

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/report"
)

// escapeTime is how long the rest of a key may take that begins like the key Esc.
const escapeTime = 50 * time.Millisecond

const (
	ctrlC, ctrlE, ctrlU, escape = 0x03, 0x05, 0x15, 0x1b

	pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"
)

// A keyboard reads the bytes of a terminal. It takes out what a line editor must not see: Esc and Ctrl-C, which interrupt, and what was
// pasted, which is put in as one piece however many lines it has.
type keyboard struct {
	interrupts chan<- struct{}
	pastes     *pastes

	chunks chan []byte
	end    error  // why chunks has ended
	in     []byte // not looked at yet
	out    []byte // for the editor
}

// newKeyboard returns a keyboard on the bytes of a terminal.
func newKeyboard(src io.Reader, interrupts chan<- struct{}, p *pastes) *keyboard {
	k := &keyboard{interrupts: interrupts, pastes: p, chunks: make(chan []byte)}
	go k.pump(src)
	return k
}

// pump reads until the terminal ends. There is no other way to wait for the rest of a key but for a limited time.
func (k *keyboard) pump(src io.Reader) {
	defer close(k.chunks)
	for {
		buf := make([]byte, 4096)
		n, err := src.Read(buf)
		if n > 0 {
			k.chunks <- buf[:n]
		}
		if err != nil {
			k.end = err
			return
		}
	}
}

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	for len(k.out) == 0 {
		if len(k.in) == 0 && !k.more(nil) {
			return 0, k.end
		}
		k.key()
	}
	n := copy(p, k.out)
	k.out = k.out[n:]
	return n, nil
}

// more waits for more bytes; it returns false when there are none, or none in time.
func (k *keyboard) more(timeout <-chan time.Time) bool {
	select {
	case b, ok := <-k.chunks:
		k.in = append(k.in, b...)
		return ok
	case <-timeout:
		return false
	}
}

// key takes one key from what came in, or all up to the next one that matters.
func (k *keyboard) key() {
	i := bytes.IndexAny(k.in, "\x03\x1b")
	switch {
	case i < 0:
		k.out, k.in = append(k.out, k.in...), nil
	case i > 0:
		k.out, k.in = append(k.out, k.in[:i]...), k.in[i:]
	case k.in[0] == ctrlC:
		k.in, k.out = k.in[1:], append(k.out, ctrlE, ctrlU) // what is typed goes, too
		k.interrupt()
	default:
		k.sequence()
	}
}

// sequence takes a key that begins with Esc.
func (k *keyboard) sequence() {
	n := sequenceLen(k.in)
	for n == 0 && k.more(time.After(escapeTime)) {
		n = sequenceLen(k.in)
	}
	switch {
	case n == 1 || n == 0 && len(k.in) == 1: // nothing came behind it: the key Esc itself
		k.in = k.in[1:]
		k.interrupt()
	case n == 0: // half a sequence, which the editor would wait for the rest of
		k.in = nil
	case n > 2 && isControl(k.in[n-1]): // half a one, too, and then another key
		k.in = k.in[n-1:]
	case string(k.in[:n]) == pasteBegin:
		k.in = k.in[n:]
		k.paste()
	default:
		k.out, k.in = append(k.out, k.in[:n]...), k.in[n:]
	}
}

// sequenceLen returns the length of the sequence that b begins with: 0 when its end is missing. A control character breaks a sequence
// off, as it does in a terminal (ECMA-48, 5.4); such a one ends with it.
func sequenceLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case escape:
		return 1
	case '[':
		for i, c := range b[2:] {
			if c >= 0x40 && c <= 0x7e || isControl(c) {
				return i + 3
			}
		}
		return 0
	case 'O':
		if len(b) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// isControl reports whether c is a control character of ASCII.
func isControl(c byte) bool { return c < 0x20 }

// interrupt tells of Esc or Ctrl-C. One that nobody has taken yet is enough.
func (k *keyboard) interrupt() {
	select {
	case k.interrupts <- struct{}{}:
	default:
	}
}

// mostPasted is how many bytes are taken of one paste.
const mostPasted = 4 << 20

// paste takes what is pasted, up to its end: what is too much of it must not be taken for lines that are typed.
func (k *keyboard) paste() {
	var text []byte
	for ended := false; !ended; {
		n, next := bytes.Index(k.in, []byte(pasteEnd)), 0
		if ended = n >= 0; ended {
			next = n + len(pasteEnd)
		} else {
			n = max(0, len(k.in)-len(pasteEnd)+1) // the beginning of the end may stand there
			next = n
		}
		text = append(text, k.in[:min(n, mostPasted-len(text))]...)
		k.in = k.in[next:]
		if !ended && !k.more(nil) {
			text, k.in, ended = append(text, k.in...), nil, true
		}
	}
	if len(text) >= mostPasted {
		text = append(text, "\n(What was pasted is longer. The rest is left out.)"...)
	}
	k.out = append(k.out, k.pastes.put(string(text))...)
}

// The signs that stand for the end of a line, and for a tab, in what is edited.
const newline, tab = "⏎", "⇥"

// visible returns pasted text as it is edited.
func visible(text string) string {
	text = strings.NewReplacer("\r\n", newline, "\n", newline, "\r", newline, "\t", tab).Replace(text)
	return report.Visible(text)
}

// meant returns what an edited line stands for.
func meant(line string) string { return strings.NewReplacer(newline, "\n", tab, "\t").Replace(line) }
