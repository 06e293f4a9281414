package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxInput is the most bytes that Read returns, unpacked: far above what any API accepts (32 MB) and
// any agent's session file has been seen to have.
const maxInput = 512 << 20

// Read reads all of r, unpacking it when it is gzip, which it tells by the first two bytes.
// More than 512 MB are an error.
func Read(r io.Reader) ([]byte, error) { return read(r, maxInput) }

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
	src, err := readUpTo(z, limit)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("unpack gzip: the packed input is cut off")
	}
	return src, err
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
