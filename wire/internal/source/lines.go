package source

import (
	"fmt"
)

// Lines is a builder over the records of a file.
type Lines struct {
	*Builder
	Records []Record
}

// OpenLines returns a builder over the lines of src, which an agent program wrote. It is an error when src holds no
// record at all.
func OpenLines(src []byte, agent string) (*Lines, error) {
	rs, warnings := readRecords(src)
	if len(rs) == 0 {
		return nil, fmt.Errorf("no line is a JSON object: %w", ErrFormat)
	}
	l := &Lines{Builder: NewBuilder(src), Records: rs}
	l.Conv.Agent = agent
	l.Warnings = warnings
	return l, nil
}

// Note adds a warning about record rec.
func (l *Lines) Note(rec int, format string, args ...any) {
	r := &l.Records[rec]
	l.Warnings = append(l.Warnings, Warning{Offset: r.At.Start, Line: r.line, Text: fmt.Sprintf(format, args...)})
}

// A Tally counts records of one sort and remembers the first.
type Tally struct{ n, first int }

// Add counts record rec.
func (t *Tally) Add(rec int) {
	if t.n++; t.n == 1 {
		t.first = rec
	}
}

// NoteAll adds a warning that begins with how many records were counted, at the first of them, if there are any.
func (l *Lines) NoteAll(t Tally, text string) {
	if t.n > 0 {
		l.Note(t.first, "%d %s", t.n, text)
	}
}
