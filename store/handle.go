package store

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
)

// ParseHandle returns the parts of a handle. For a block's handle, "d:1f2e3d4c", it returns the
// hexadecimal digits, at least 6 and at most 32; for a checkpoint's, "c:3", the number. For anything
// else it returns an error that wraps ErrBadHandle, because handles come from models and people and
// are never trusted.
func ParseHandle(h decant.Handle) (digits string, checkpoint int, err error) {
	kind, rest, _ := strings.Cut(string(h), ":")
	switch kind {
	case "c":
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return "", n, nil
		}
	case "d":
		digits = strings.ToLower(rest)
		if _, err := hex.DecodeString(digits + digits); err == nil && len(digits) >= 6 && len(digits) <= 32 {
			return digits, 0, nil
		}
	}
	return "", 0, fmt.Errorf("handle %q: %w: want d: and 6 to 32 hexadecimal digits, or c: and a number", h, ErrBadHandle)
}

// HashRange returns the lowest and the highest hash whose hexadecimal form begins with digits.
func HashRange(digits string) (low, high decant.Hash) {
	const width = 2 * len(low)
	lo := digits + strings.Repeat("0", width-len(digits))
	hi := digits + strings.Repeat("f", width-len(digits))
	hex.Decode(low[:], []byte(lo)) // the digits were checked by ParseHandle
	hex.Decode(high[:], []byte(hi))
	return low, high
}
