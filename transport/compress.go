package transport

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

var errEncoding = errors.New("content encoding is not known")

// decompress returns a body without its content encoding: gzip and zstd are known. It reads at most
// limit bytes.
func decompress(body []byte, encoding string, limit int64) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		return readAll(r, limit)
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, fmt.Errorf("read zstd: %w", err)
		}
		defer r.Close()
		return readAll(r, limit)
	}
	return nil, fmt.Errorf("%q: %w", encoding, errEncoding)
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("decompress body: %w", err)
	}
	if int64(len(out)) > limit {
		return nil, fmt.Errorf("decompress body: more than %d bytes", limit)
	}
	return out, nil
}
