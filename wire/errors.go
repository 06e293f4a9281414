package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// errFormat means that an input is in none of the formats, or not in the one that it was said to be.
var errFormat = errors.New("not a conversation that this program can read")

// fieldError says that a member is not what the format demands.
func fieldError(offset int, field, want string) error {
	return fmt.Errorf("offset %d, %s: %s: %w", offset, field, want, errFormat)
}

// indexed returns "name[i]".
func indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// valid returns src without a byte order mark, and an error that says why it is not one JSON value, if it is none.
func valid(src []byte) ([]byte, error) {
	src = bytes.TrimPrefix(src, byteOrderMark)
	err := jsonspan.Validate(src)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("offset %d: the input is cut off after %d bytes: %w", len(src), len(src), errFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, errFormat)
	}
	return src, nil
}

// byteOrderMark may stand before a JSON text and is no part of it.
var byteOrderMark = []byte("\xef\xbb\xbf")
