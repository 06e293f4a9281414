package transport

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// plain unpacks an answer that came compressed although that was not asked for, so that what it used can be read. It
// returns what is wrong with one that cannot be unpacked and passes as it is.
func plain(res *http.Response) error {
	encoding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))
	open := openers[encoding]
	switch {
	case encoding == "" || encoding == "identity" || res.Body == nil || res.Body == http.NoBody:
		return nil
	case open == nil:
		return fmt.Errorf("the answer came compressed as %.20q, which is not known: what it used is not booked", encoding)
	}
	res.Body = &unpacking{body: res.Body, open: open}
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	res.ContentLength, res.Uncompressed = -1, true
	return nil
}

// openers say how each encoding is unpacked.
var openers = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": inflated,
	"zstd": func(r io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	},
}

// inflated unpacks deflate, which servers write with and without the head of zlib.
func inflated(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// An unpacking is the body of an answer that is unpacked while it is read. Nothing is read before.
type unpacking struct {
	body io.ReadCloser
	open func(io.Reader) (io.Reader, error)
	from io.Reader // nil: nothing was read yet
}

// Read implements io.Reader.
func (u *unpacking) Read(p []byte) (int, error) {
	if u.from == nil {
		from, err := u.open(u.body)
		if err != nil {
			return 0, fmt.Errorf("unpack the answer: %w", err)
		}
		u.from = from
	}
	return u.from.Read(p)
}

// Close implements io.Closer.
func (u *unpacking) Close() error {
	if c, ok := u.from.(io.Closer); ok {
		_ = c.Close() // it holds nothing but memory
	}
	return u.body.Close()
}
