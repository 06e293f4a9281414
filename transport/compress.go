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

var (
	errEncoding = errors.New("content encoding is not known; gzip, zstd and identity are")
	errBomb     = fmt.Errorf("it unpacks to more than %d times its size", mostRatio)
)

// The limits of unpacking. Transcripts become ten times as large, the most repetitive ones fifty times.
const (
	mostRatio  = 200     // how many times its size a body may become
	smallBody  = 1 << 20 // bytes that a body may become in any case
	largeBody  = 8 << 20 // bytes above which only one body at a time is unpacked
	zstdWindow = 8 << 20 // bytes: what a decoder must be able to hold, and the most that senders may ask for (RFC 9659)
)

// unpack returns a body without its content encoding, which may be gzip or zstd. A body without one is returned
// unchanged.
func (x *exchange) unpack(body []byte, encoding string) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		return x.unpackAll(r, int64(len(body)))
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderMaxMemory(uint64(x.t.opts.MaxBody)))
		if err != nil {
			return nil, fmt.Errorf("read zstd: %w", err)
		}
		defer r.Close()
		return x.unpackAll(r, int64(len(body)))
	}
	return nil, fmt.Errorf("%q: %w", encoding, errEncoding)
}

// unpackAll unpacks a body of the given size. If the result would exceed the limits, it returns an error before it has
// unpacked more than they allow.
func (x *exchange) unpackAll(r io.Reader, packed int64) ([]byte, error) {
	limit := min(x.t.opts.MaxBody, max(smallBody, packed*mostRatio))
	out, err := fill(nil, r, -1, min(limit, largeBody), x.share)
	if errors.Is(err, errLarge) && limit > largeBody {
		out, err = x.unpackLarge(out, r, limit)
	}
	switch {
	case errors.Is(err, errLarge) && limit < x.t.opts.MaxBody:
		return nil, errBomb
	case err != nil:
		return nil, fmt.Errorf("unpack body: %w", err)
	}
	return out, nil
}

// unpackLarge continues to unpack a body that has turned out to be large, once no other one is being unpacked.
func (x *exchange) unpackLarge(begun []byte, r io.Reader, limit int64) (out []byte, err error) {
	err = x.t.space.Alone(x.in.Context(), func() error {
		out, err = fill(begun, r, -1, limit, x.share)
		return err
	})
	return out, err
}
