package jsonspan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// replacement is U+FFFD as an escape sequence.
const replacement = `\ufffd`

// Sound returns JSON text in which all characters are whole, and how many had to be replaced by U+FFFD: halves of
// surrogate pairs, which programs leave that cut text by its UTF-16 units, and bytes that are not UTF-8. APIs refuse a
// body with either. Text without them is returned as it is.
func Sound(src []byte) (out []byte, replaced int) {
	out = src
	if !utf8.Valid(src) {
		mark := []byte(string(utf8.RuneError))
		out = bytes.ToValidUTF8(src, mark)
		replaced = bytes.Count(out, mark) - bytes.Count(src, mark)
	}
	if !bytes.Contains(out, []byte(`\ud`)) && !bytes.Contains(out, []byte(`\uD`)) {
		return out, replaced // as nearly always
	}
	owned := replaced > 0
	for i := bytes.IndexByte(out, '\\'); i >= 0 && i < len(out); {
		r, ok := hex4(out[i:])
		_, n := unicodeEscape(out[i:])
		switch {
		case !ok:
			n = 2 // another escape
		case utf16.IsSurrogate(r) && n == len(replacement):
			if !owned {
				out, owned = bytes.Clone(out), true
			}
			copy(out[i:], replacement)
			replaced++
		}
		if i += n; i >= len(out) {
			break
		}
		at := bytes.IndexByte(out[i:], '\\')
		if at < 0 {
			break
		}
		i += at
	}
	return out, replaced
}
