package wire_test

import (
	"bytes"
	"testing"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// megabyte returns a Messages API body of about a megabyte: the messages of a real session, 2.2 kB
// each as is the average of real sessions, repeated.
func megabyte(tb testing.TB) []byte {
	tb.Helper()
	src := body(tb, "anthropic-large.json.gz")
	sc := jsonspan.Scan(src, bytes.Index(src, []byte(`"messages":`))+len(`"messages":`))
	list := sc.Skip()
	one := src[list.Start+1 : list.End-1]
	out := bytes.Clone(src[:list.End-1])
	for len(out) < 1<<20 {
		out = append(append(out, ','), one...)
	}
	return append(out, src[list.End-1:]...)
}

// BenchmarkValidate is the floor for BenchmarkParseSplice: checking once that the body is JSON.
func BenchmarkValidate(b *testing.B) {
	src := megabyte(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := jsonspan.Validate(src); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseSplice reads a body and writes it back without decisions. It may take 1.6 times as
// long as BenchmarkValidate.
func BenchmarkParseSplice(b *testing.B) {
	src := megabyte(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := wire.Parse(src)
		if err != nil {
			b.Fatal(err)
		}
		out, err := d.Render(d.Conversation)
		if err != nil || len(out) != len(src) {
			b.Fatal("the body changed: ", err)
		}
	}
}
