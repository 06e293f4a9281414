package session

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/source"
)

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

// uuid returns the id of something new as a JSON string. It follows from what is given, so that the same view gives the
// same file (RFC 9562, section 5.8).
func uuid(from ...string) []byte {
	h := decant.HashText("decant\x00" + strings.Join(from, "\x00"))
	h[6] = h[6]&0x0f | 0x80
	h[8] = h[8]&0x3f | 0x80
	x := hex.EncodeToString(h[:])
	return source.Quote(x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:])
}
