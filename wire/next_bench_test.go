package wire_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/decantdev/decant/wire"
)

// grown returns a request of about size bytes and the one that comes after it: with two messages more,
// and with the cache marker on the last message moved there. The messages are those of a real session,
// 2 kB each, its fixed part is cut to fit small sizes.
func grown(tb testing.TB, size int) (a, b []byte) {
	src := megabyte(tb)
	d, err := wire.ParseAs(wire.Anthropic, src)
	if err != nil {
		tb.Fatal(err)
	}
	head := fmt.Appendf(nil, `{"model":"claude-sonnet-4-5","max_tokens":32000,"system":"%s","messages":[`, bytes.Repeat([]byte("Be careful. "), size/400))
	var elems [][]byte
	for n := len(head); n < size; {
		m := d.Conversation.Messages[len(elems)]
		e := fmt.Appendf(nil, `{"role":%q,"content":[`, m.Role)
		for k, blk := range m.Blocks {
			if k > 0 {
				e = append(e, ',')
			}
			if raw := d.Raw(blk.Ref); raw[0] == '"' {
				e = fmt.Appendf(e, `{"type":"text","text":%s}`, raw)
			} else {
				e = append(e, raw...)
			}
		}
		elems = append(elems, append(e, "]}"...))
		n += len(elems[len(elems)-1])
	}
	request := func(ms [][]byte) []byte {
		marked := bytes.TrimSuffix(ms[len(ms)-1], []byte("}]}"))
		ms = append(slices.Clone(ms[:len(ms)-1]), append(bytes.Clone(marked), `,"cache_control":{"type":"ephemeral"}}]}`...))
		return slices.Concat(head, bytes.Join(ms, []byte(",")), []byte(`],"stream":true}`))
	}
	return request(elems[:len(elems)-2]), request(elems)
}

var sizes = []struct {
	name  string
	bytes int
}{{"13.5KB", 13_500}, {"106KB", 106_000}, {"528KB", 528_000}}

// BenchmarkParse reads a request from scratch.
func BenchmarkParse(b *testing.B) {
	for _, s := range sizes {
		_, src := grown(b, s.bytes)
		b.Run(s.name, func(b *testing.B) {
			measure(b, src, func() error {
				_, err := wire.ParseAs(wire.Anthropic, src)
				return err
			})
		})
	}
}

// BenchmarkParseNext reads a request of a conversation that grew by one round. To reach: 0.12 ms for
// 528 KB.
func BenchmarkParseNext(b *testing.B) {
	for _, s := range sizes {
		before, src := grown(b, s.bytes)
		d, err := wire.ParseAs(wire.Anthropic, before)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(s.name, func(b *testing.B) {
			measure(b, src, func() error {
				next, err := parseNext(d, src)
				if err == nil && next.Kept < len(d.Conversation.Messages)-1 {
					return fmt.Errorf("kept only %d messages", next.Kept)
				}
				return err
			})
		})
	}
}

// BenchmarkCopy is the floor for BenchmarkParseNext: copying the request once.
func BenchmarkCopy(b *testing.B) {
	for _, s := range sizes {
		_, src := grown(b, s.bytes)
		dst := make([]byte, len(src))
		b.Run(s.name, func(b *testing.B) {
			measure(b, src, func() error {
				copy(dst, src)
				return nil
			})
		})
	}
}

// measure runs f, which reads src. The shortest time is what f takes on an idle machine.
func measure(b *testing.B, src []byte, f func() error) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	shortest := b.Elapsed() + 1<<62
	for b.Loop() {
		start := b.Elapsed()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		shortest = min(shortest, b.Elapsed()-start)
	}
	b.ReportMetric(float64(shortest.Nanoseconds())/1e3, "best-µs")
}

// TestReadingARequestAllocatesLittle states the allowed allocations: a few for the document, and fewer
// than one for each message.
func TestReadingARequestAllocatesLittle(t *testing.T) {
	for _, s := range sizes {
		before, src := grown(t, s.bytes)
		d, err := wire.ParseAs(wire.Anthropic, before)
		if err != nil {
			t.Fatal(err)
		}
		alone := testing.AllocsPerRun(5, func() { wire.ParseAs(wire.Anthropic, src) })
		if most := 40 + float64(len(d.Conversation.Messages)); alone > most {
			t.Errorf("%s: ParseAs makes %v allocations, want at most %v", s.name, alone, most)
		}
		if after := testing.AllocsPerRun(5, func() { d.ParseNext(src) }); after > 40 {
			t.Errorf("%s: ParseNext makes %v allocations, want at most 40", s.name, after)
		}
	}
}
