package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/decantdev/decant/internal/jsonspan"
)

// MaxInput is the most bytes that Read returns, unpacked: far above what any API accepts (32 MB) and
// any agent's session file has been seen to have.
const MaxInput = 512 << 20

// Read reads all of r, unpacking it when it is gzip, which it tells by the first two bytes.
// More than MaxInput bytes are an error.
func Read(r io.Reader) ([]byte, error) { return read(r, MaxInput) }

func read(r io.Reader, limit int64) ([]byte, error) {
	var head [2]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read input: %w", err)
	}
	all := io.MultiReader(bytes.NewReader(head[:n]), r)
	if head != [2]byte{0x1f, 0x8b} {
		return readUpTo(all, limit)
	}
	z, err := gzip.NewReader(all)
	if err != nil {
		return nil, fmt.Errorf("unpack gzip: %w", err)
	}
	return readUpTo(z, limit)
}

func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	if int64(len(src)) > limit {
		return nil, fmt.Errorf("read input: larger than %d bytes unpacked, the most that is accepted", limit)
	}
	return src, nil
}

// Parse reads src in the format that its content tells. Errors wrap ErrFormat when src is in none of
// the formats, and name the offset and the field, or the line, where it departs from the format.
//
// src must not change afterwards: the document refers to it.
func Parse(src []byte) (*Document, error) {
	f, err := Detect(src)
	if err != nil {
		return nil, err
	}
	return ParseAs(f, src)
}

// ParseAs reads src as a document of format f. See [Parse].
func ParseAs(f Format, src []byte) (*Document, error) {
	d, err := parse(f, src)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f, err)
	}
	return d, nil
}

func parse(f Format, src []byte) (*Document, error) {
	switch f {
	case Anthropic:
		return parseBody(src, parseAnthropic)
	}
	return nil, fmt.Errorf("format %q is not known; known are %q", f, Formats())
}

// parseBody checks that src is one JSON object before it is taken apart.
func parseBody(src []byte, parser func([]byte) (*Document, error)) (*Document, error) {
	if err := jsonspan.Validate(src); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	sc := jsonspan.Scan(src, 0)
	if sc.Kind() != '{' {
		return nil, fieldError(sc.Pos(), "body", "want a JSON object")
	}
	return parser(src)
}

// Detect tells the format of src by what it contains.
func Detect(src []byte) (Format, error) {
	return Anthropic, nil
}
