package source

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// errLong means that a line has more bytes than are read of one.
var errLong = fmt.Errorf("the line has more than %d bytes", mostLine)

// A liner reads lines of bounded length.
type liner struct {
	in   *bufio.Reader
	line int // the number of the newest one, from 1
	buf  []byte
}

func newLiner(r io.Reader) *liner { return &liner{in: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end. The bytes are valid until the next call. A line that is too long is errLong, and the one
// behind it comes next.
func (l *liner) next() ([]byte, error) {
	l.buf, l.line = l.buf[:0], l.line+1
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(l.buf)+len(part) > mostLine; !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		case err == io.EOF && len(l.buf) > 0, err == nil:
			return trimEnd(l.buf), nil
		default:
			return nil, err
		}
	}
}

// ahead returns some of what follows the newest line. It is valid until the next line is read.
func (l *liner) ahead() []byte {
	text, _ := l.in.Peek(4 << 10)
	return text
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// A readFunc yields the events of one file, and reports whether more are wanted.
type readFunc func(ctx context.Context, name string, at time.Time, r io.Reader, yield func(Event, error) bool) bool

// readFiles yields the events of files that lie in the window.
func readFiles(ctx context.Context, patterns []string, stdin io.Reader, in Window, read readFunc) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		names, err := expand(patterns)
		if err != nil {
			yield(Event{}, err)
			return
		}
		want := func(e Event, err error) bool {
			return err == nil && !in.Contains(e.Time) || yield(e, err)
		}
		for _, name := range names {
			if !readFile(ctx, name, stdin, in, read, want) {
				return
			}
		}
	}
}

// readFile reads one file; one that was last written before the window is left out.
func readFile(ctx context.Context, name string, stdin io.Reader, in Window, read readFunc, yield func(Event, error) bool) bool {
	if name == "-" {
		return read(ctx, "standard input", time.Now(), stdin, yield)
	}
	f, err := os.Open(name)
	if err != nil {
		yield(Event{}, fmt.Errorf("read errors: %w", err))
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		yield(Event{}, fmt.Errorf("read errors: %w", err))
		return false
	}
	if info.IsDir() {
		yield(Event{}, fmt.Errorf("read errors: %s is a folder; name its files, such as %s/*.log", name, strings.TrimRight(name, "/")))
		return false
	}
	if !in.Since.IsZero() && info.ModTime().Before(in.Since) && info.Mode().IsRegular() {
		return true
	}
	r, err := unpacked(name, f)
	if err != nil {
		yield(Event{}, fmt.Errorf("read %s: %w", name, err))
		return false
	}
	return read(ctx, name, info.ModTime(), r, yield)
}

// unpacked returns what a file holds, of one that is packed what was packed.
func unpacked(name string, f io.Reader) (io.Reader, error) {
	if strings.HasSuffix(name, ".gz") {
		return gzip.NewReader(f)
	}
	return f, nil
}

// expand returns the files that patterns name, each once, in order. A pattern without stars must name a file that is there.
func expand(patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, errors.New("no file is named to read errors from")
	}
	var out []string
	for _, p := range patterns {
		if p == "-" || !strings.ContainsAny(p, "*?[{") {
			out = append(out, p)
			continue
		}
		names, err := doublestar.FilepathGlob(p, doublestar.WithFilesOnly())
		if err != nil {
			return nil, fmt.Errorf("files %q: %w", p, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("files %q: there are none", p)
		}
		slices.Sort(names)
		out = append(out, names...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(n string) bool { was := seen[n]; seen[n] = true; return was }), nil
}

// checkFiles reports whether files can be opened.
func checkFiles(patterns []string) error {
	names, err := expand(patterns)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "-" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("read errors: %w; name a file that this user may read", err)
		}
		if err := f.Close(); err != nil {
			return fmt.Errorf("read errors: %w", err)
		}
	}
	return nil
}
