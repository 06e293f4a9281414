package transport

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/internal/hold"
)

// pieces is a reader that hands out a text in pieces of given sizes, the last with or before the end.
type pieces struct {
	text  []byte
	sizes []int
	early bool // the end comes with the last bytes
	most  int  // the most room that anybody offered beyond what had come
	given int
}

func (p *pieces) Read(buf []byte) (int, error) {
	p.most = max(p.most, len(buf)-3*p.given)
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := min(len(buf), len(p.text))
	if len(p.sizes) > 0 {
		n, p.sizes = min(n, p.sizes[0]), p.sizes[1:]
	}
	copy(buf, p.text[:n])
	p.text, p.given = p.text[n:], p.given+n
	if p.early && len(p.text) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// A body is read as it was sent, however it comes and whatever was said of its length. It takes no more room than
// 64 KB and three times what has come, and all of it is counted.
func TestBodiesAreTrustedAsTheyArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := bytes.Repeat([]byte("0123456789abcdef"), 1<<15)[:rapid.IntRange(0, 1<<19).Draw(t, "size")]
		limit := rapid.Int64Range(1, 1<<19).Draw(t, "limit")
		said := rapid.SampledFrom([]int64{-1, int64(len(text)), limit, 1}).Draw(t, "said")
		in := &pieces{text: text, sizes: rapid.SliceOfN(rapid.IntRange(1, 1<<17), 0, 9).Draw(t, "pieces"), early: rapid.Bool().Draw(t, "early")}
		space := hold.New(1<<30, mostBulk)
		s := space.Share("")
		got, err := fill(nil, in, said, limit, s)
		if large := int64(len(text)) > limit; errors.Is(err, errLarge) != large || !large && err != nil {
			t.Fatalf("%d bytes, limit %d: %v", len(text), limit, err)
		}
		if !bytes.Equal(append(got, in.text...), text) {
			t.Fatal("what was read and what is left are not the body")
		}
		if in.most > firstRoom {
			t.Fatalf("%d bytes of room for what had not come", in.most)
		}
		if held, other := int64(cap(got)), space.Share(""); held > 0 && (!other.Take(1<<30-held) || other.Take(1)) {
			t.Fatalf("%d bytes are held, and another number is counted", held)
		}
	})
}
