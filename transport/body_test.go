package transport

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
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
		r := newRoom(1 << 30)
		s := share{room: r}
		got, err := fill(nil, in, said, limit, &s)
		if large := int64(len(text)) > limit; errors.Is(err, errLarge) != large || !large && err != nil {
			t.Fatalf("%d bytes, limit %d: %v", len(text), limit, err)
		}
		if !bytes.Equal(append(got, in.text...), text) {
			t.Fatal("what was read and what is left are not the body")
		}
		if in.most > firstRoom {
			t.Fatalf("%d bytes of room for what had not come", in.most)
		}
		if r.used != int64(cap(got)) {
			t.Fatalf("%d bytes are counted, %d held", r.used, cap(got))
		}
		if s.release(); r.used != 0 {
			t.Fatalf("%d bytes are left", r.used)
		}
	})
}

func TestARoomIsSharedByAll(t *testing.T) {
	r := newRoom(100)
	a, b := share{room: r}, share{room: r}
	for i, c := range []struct {
		s    *share
		n    int64
		want bool
	}{{&a, 60, true}, {&b, 50, false}, {&b, 40, true}, {&a, 1, false}, {&b, 1, false}} {
		if got := c.s.take(c.n); got != c.want {
			t.Fatalf("%d: %t", i, got)
		}
	}
	a.release()
	a.release()
	if a.take(1) {
		t.Error("who has released everything takes more")
	}
	a.add(1000)
	if !b.take(60) {
		t.Error("what was released is not there, or something came after it")
	}
	b.release()
	alone := share{room: r}
	if !alone.take(500) {
		t.Error("a body that is alone finds no room")
	}
	if b := (share{room: r}); b.take(1) {
		t.Error("there is room beside one that is too large")
	}
}

func TestATenantHasHalfOfTheRoom(t *testing.T) {
	r := newRoom(100)
	a, again, b := share{room: r, tenant: "a"}, share{room: r, tenant: "a"}, share{room: r, tenant: "b"}
	for i, c := range []struct {
		s    *share
		n    int64
		want bool
	}{{&a, 40, true}, {&again, 20, false}, {&again, 10, true}, {&a, 1, false}, {&b, 50, true}, {&b, 1, false}} {
		if got := c.s.take(c.n); got != c.want {
			t.Fatalf("%d: %t", i, got)
		}
	}
	for _, s := range []*share{&a, &again, &b} {
		s.release()
	}
	if len(r.of) != 0 || r.used != 0 {
		t.Errorf("%d bytes are used, by %v", r.used, r.of)
	}
	if large := (share{room: r, tenant: "b"}); !large.take(60) {
		t.Error("a body that is alone finds no room")
	}
}
