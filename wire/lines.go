package wire

import (
	"fmt"
)

// lines is a builder over the records of a file.
type lines struct {
	*builder
	records []record
}

// openLines returns a builder over the lines of src, which an agent program wrote. It is an error when src holds no
// record at all.
func openLines(src []byte, agent string) (*lines, error) {
	rs, warnings := readRecords(src)
	if len(rs) == 0 {
		return nil, fmt.Errorf("no line is a JSON object: %w", errFormat)
	}
	l := &lines{builder: newBuilder(src), records: rs}
	l.conv.Agent = agent
	l.warnings = warnings
	return l, nil
}

// note adds a warning about record rec.
func (l *lines) note(rec int, format string, args ...any) {
	r := &l.records[rec]
	l.warnings = append(l.warnings, warning{offset: r.at.Start, line: r.line, text: fmt.Sprintf(format, args...)})
}
