package session

import "bytes"

// An output is a file of lines in the making.
type output struct {
	text      []byte
	lines     int // so far
	lineBreak string
}

// line appends a line.
func (o *output) line(text []byte) {
	o.text = append(append(o.text, bytes.TrimRight(text, "\r\n")...), o.lineBreak...)
	o.lines++
}

// lineBreak returns how a file ends its lines.
func lineBreak(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
