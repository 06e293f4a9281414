package source

import (
	"context"
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
	return readFiles(ctx, j.Files, j.In, in, func(ctx context.Context, name string, _ time.Time, r io.Reader, yield func(Event, error) bool) bool {
		return readAll(ctx, name, time.Time{}, r, objectLines, yield)
	})
}

// Check implements [Source].
func (j *JSONL) Check(context.Context) error { return checkFiles(j.Files) }
