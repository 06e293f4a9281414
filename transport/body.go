package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// errLarge means that a body is larger than what is managed.
var errLarge = errors.New("body is too large to be managed")

// firstRoom is how much room is made for a body before any of it is there. After that it is trusted as it
// arrives: as much again is made as has come already, or three times as much where its length was said.
const firstRoom = 64 << 10

// fill reads the rest of a body of which b has been read already, and whose length was said to be length;
// negative: it was not. It returns errLarge with what was read, if the body has more than limit bytes, and
// errFull, if the share's room has no more.
func fill(b []byte, r io.Reader, length, limit int64, s *share) ([]byte, error) {
	for {
		if int64(len(b)) > limit {
			return b, errLarge
		}
		if len(b) == cap(b) {
			next := nextRoom(int64(len(b)), length, limit)
			if !s.take(next - int64(len(b))) {
				return nil, errFull
			}
			b = widened(b, int(next))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF) && int64(len(b)) <= limit:
			return b, nil
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
	}
}

// Most bodies of agents grow out of the first rooms that are made for them. These are used again.
var small, medium = sync.Pool{New: array[[firstRoom]byte]}, sync.Pool{New: array[[4 * firstRoom]byte]}

func array[A any]() any { return new(A) }

// widened returns b, which is full, with room for n bytes in all. Nobody must use b any longer.
func widened(b []byte, n int) (out []byte) {
	switch n {
	case firstRoom:
		out = small.Get().(*[firstRoom]byte)[:]
		out = out[:copy(out, b)]
	case 4 * firstRoom:
		out = medium.Get().(*[4 * firstRoom]byte)[:]
		out = out[:copy(out, b)]
	default:
		out = slices.Grow(b[:len(b):len(b)], n-len(b))[:len(b):n]
	}
	switch len(b) {
	case firstRoom:
		small.Put((*[firstRoom]byte)(b))
	case 4 * firstRoom:
		medium.Put((*[4 * firstRoom]byte)(b))
	}
	return out
}

// nextRoom returns how much room is made for a body of which n bytes have come, and that may have limit of
// them: one byte more than it will need, in which its end is found.
func nextRoom(n, length, limit int64) int64 {
	switch {
	case length >= 0 && n < length:
		return min(max(4*n, firstRoom), length+1)
	case n == 0:
		return min(firstRoom, limit+1)
	}
	return min(2*n, limit+1)
}

// read takes the request's body. It returns errFull when there is no room for it.
func (x *exchange) read() (err error) {
	in, most := x.in, x.t.opts.MaxBody
	if in.ContentLength > most {
		x.large = true
		return nil
	}
	x.sent, err = fill(nil, in.Body, in.ContentLength, most, &x.share)
	if x.large = errors.Is(err, errLarge); x.large {
		return nil
	}
	if err = errors.Join(err, in.Body.Close()); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	x.body, err = x.unpack(x.sent, in.Header.Get("Content-Encoding"))
	if err != nil && !errors.Is(err, errFull) {
		x.body, x.foreign, err = x.sent, err, nil // it is the provider's to judge
	}
	return err
}

// passing returns the request to send for a body that is too large to be managed: what was read of it, and
// then what the client goes on to send.
func (x *exchange) passing() *http.Request {
	out := outgoing(x.in)
	if len(x.sent) > 0 {
		out.Body = &joined{Reader: io.MultiReader(bytes.NewReader(x.sent), x.in.Body), Closer: x.in.Body}
	}
	return out
}
