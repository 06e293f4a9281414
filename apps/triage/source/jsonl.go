package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// JSONL is files with an event on each line, in the form that the package describes.
type JSONL struct {
	Files []string  // names, which may have stars as doublestar has them; "-" is standard input; names that end in .gz are packed
	In    io.Reader // standard input
}

// Name implements [Source].
func (j *JSONL) Name() string { return "jsonl " + strings.Join(j.Files, " ") }

// Events implements [Source].
func (j *JSONL) Events(ctx context.Context, in Window) iter.Seq2[Event, error] {
	return readFiles(ctx, j.Files, j.In, in, readJSONL)
}

// Check implements [Source].
func (j *JSONL) Check(context.Context) error { return checkFiles(j.Files) }

// readJSONL is a readFunc for lines of JSON.
func readJSONL(ctx context.Context, name string, _ time.Time, r io.Reader, yield func(Event, error) bool) bool {
	l := newLiner(r)
	for ctx.Err() == nil {
		line, err := l.next()
		if err == io.EOF {
			return true
		}
		if err != nil && err != errLong {
			yield(Event{}, fmt.Errorf("read %s: %w", name, err))
			return false
		}
		var e Event
		if err == nil {
			e, err = readLine(line)
		}
		switch {
		case errors.Is(err, errLevel):
		case err != nil:
			if !yield(Event{}, &LineError{name, l.line, err}) {
				return false
			}
		case !yield(e, nil):
			return false
		}
	}
	yield(Event{}, ctx.Err())
	return false
}

// readLine reads one line; an empty one tells of no error.
func readLine(line []byte) (Event, error) {
	if len(strings.TrimSpace(string(line))) == 0 {
		return Event{}, errLevel
	}
	o, err := decode(line)
	if err != nil {
		return Event{}, err
	}
	return readObject(o)
}
