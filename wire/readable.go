package wire

import (
	"fmt"

	"github.com/decantdev/decant"
)

// readable returns what a text can say of a text block or an image.
func readable(b *decant.Block) string {
	if t := b.Text(); t != "" || b.Kind != decant.KindImage {
		return t
	}
	return mediaText(b.Media)
}

// mediaText says in words what images or documents stood in a place.
func mediaText(m decant.Media) string {
	if m.Count == 1 {
		return "[" + m.Type + "]"
	}
	return fmt.Sprintf("[%d files, the first %s]", m.Count, m.Type)
}

// appendLine appends a text to dst, on a new line unless it is the first.
func appendLine(dst []byte, s string) []byte {
	if len(dst) > 0 && s != "" {
		dst = append(dst, '\n')
	}
	return append(dst, s...)
}
