package source

import (
	"fmt"

	"github.com/decantdev/decant"
)

// Readable returns what a text can say of a text block or an image.
func Readable(b *decant.Block) string {
	if t := b.Text(); t != "" || b.Kind != decant.KindImage {
		return t
	}
	return MediaText(b.Media)
}

// MediaText says in words what images or documents stood in a place.
func MediaText(m decant.Media) string {
	if m.Count == 1 {
		return "[" + m.Type + "]"
	}
	return fmt.Sprintf("[%d files, the first %s]", m.Count, m.Type)
}

// AppendLine appends a text to dst, on a new line unless it is the first.
func AppendLine(dst []byte, s string) []byte {
	if len(dst) > 0 && s != "" {
		dst = append(dst, '\n')
	}
	return append(dst, s...)
}
