package summary

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// sealDigits is the length of a seal: 64 bits, which cannot be guessed without trying.
const sealDigits = 16

// Seal returns text, which holds a record, with a seal in the record's first line: a code over all of the text
// that only who has the key can make. Text without a record stays as it is.
func Seal(text string, key []byte) string {
	at, ok := sealPlace(text)
	if !ok || len(key) == 0 {
		return text
	}
	return text[:at] + "; " + code64(text, key) + text[at:]
}

// Sealed reports whether text holds a record that Seal made with the key, and nothing of it was changed.
func Sealed(text string, key []byte) bool {
	at, ok := sealPlace(text)
	if !ok || len(key) == 0 || at < sealDigits+2 {
		return false
	}
	from := at - sealDigits - 2
	if text[from:from+2] != "; " {
		return false
	}
	return hmac.Equal([]byte(text[from+2:at]), []byte(code64(text[:from]+text[at:], key)))
}

// sealPlace returns where the seal of the first record in text ends, or would be: before the bracket that
// closes the record's first line.
func sealPlace(text string) (int, bool) {
	i := strings.Index(text, mark)
	if i < 0 || i > 0 && text[i-1] != '\n' {
		return 0, false
	}
	line, _, _ := strings.Cut(text[i:], "\n")
	if !strings.HasSuffix(line, "]") {
		return 0, false
	}
	return i + len(line) - 1, true
}

func code64(text string, key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))[:sealDigits]
}
