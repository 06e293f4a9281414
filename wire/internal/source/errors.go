package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// ErrFormat means that an input is in none of the formats, or not in the one that it was said to be.
var ErrFormat = errors.New("not a conversation that this program can read")

// FieldError says that a member is not what the format demands.
func FieldError(offset int, field, want string) error {
	return fmt.Errorf("offset %d, %s: %s: %w", offset, field, want, ErrFormat)
}

// Indexed returns "name[i]".
func Indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// Valid returns src without a byte order mark, and an error that says why it is not one JSON value, if it is none.
func Valid(src []byte) ([]byte, error) {
	src = bytes.TrimPrefix(src, ByteOrderMark)
	err := jsonspan.Validate(src)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("offset %d: the input is cut off after %d bytes: %w", len(src), len(src), ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return src, nil
}

// ByteOrderMark may stand before a JSON text and is no part of it.
var ByteOrderMark = []byte("\xef\xbb\xbf")
