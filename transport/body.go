package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/decantdev/decant/internal/hold"
)

// errLarge means that a body is too large to be managed.
var errLarge = errors.New("body is too large to be managed")

// firstRoom is how much room is made for a body before any of it has come, because a client may announce any
// length. After that as much room is added as has come already, or three times as much if the length was announced.
const firstRoom = 64 << 10

// fill reads the rest of a body of which b has been read already. length is the announced length, negative if
// there was none. It returns errLarge and what was read if the body has more than limit bytes, and hold.ErrFull if the
// share's room is used up.
func fill(b []byte, r io.Reader, length, limit int64, s *hold.Share) ([]byte, error) {
	for {
		if int64(len(b)) > limit {
			return b, errLarge
		}
		if len(b) == cap(b) {
			next := nextRoom(int64(len(b)), length, limit)
			if !s.Take(next - int64(len(b))) {
				return nil, hold.ErrFull
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

// Most bodies of agents outgrow the first rooms that are made for them. These are reused.
var small, medium = sync.Pool{New: array[[firstRoom]byte]}, sync.Pool{New: array[[4 * firstRoom]byte]}

func array[A any]() any { return new(A) }

// widened returns b, which is full, with room for n bytes in all. The caller must not use b any more.
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

// nextRoom returns how much room to make for a body of which n bytes have come and which may have at most limit
// bytes. It adds one byte, so that the next read can find the end.
func nextRoom(n, length, limit int64) int64 {
	switch {
	case length >= 0 && n < length:
		return min(max(4*n, firstRoom), length+1)
	case n == 0:
		return min(firstRoom, limit+1)
	}
	return min(2*n, limit+1)
}

// mostBulk is how many bytes bodies may hold together that are bulky, while they are worked on.
const mostBulk = 48 << 20

// read takes the request's body. It returns hold.ErrFull when there is no room for it.
func (x *exchange) read() (err error) {
	in, most := x.in, x.t.opts.MaxBody
	if in.ContentLength > most {
		x.large = true
		return nil
	}
	if in.ContentLength > hold.Bulky { // of smaller bodies only what arrives takes room
		if err := x.share.Wait(in.Context(), in.ContentLength+1); err != nil {
			io.Copy(io.Discard, in.Body) // many clients read no answer before they have sent all
			return errors.Join(err, in.Body.Close())
		}
	}
	x.sent, err = fill(nil, in.Body, in.ContentLength, most, x.share)
	if x.large = errors.Is(err, errLarge); x.large {
		return nil
	}
	if err = errors.Join(err, in.Body.Close()); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	x.body, err = x.unpack(x.sent, in.Header.Get("Content-Encoding"))
	if err != nil && !errors.Is(err, hold.ErrFull) {
		x.body, x.foreign, err = x.sent, err, nil // let the provider reject it
	}
	return err
}

// passing returns the request to send for a body that is too large to be managed: first what was read of it, then
// what the client still sends.
func (x *exchange) passing() *http.Request {
	out := outgoing(x.out)
	if len(x.sent) > 0 {
		out.Body = &joined{Reader: io.MultiReader(bytes.NewReader(x.sent), x.in.Body), Closer: x.in.Body}
	}
	return out
}
