package wire_test

import (
	"bytes"
	"testing"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// BenchmarkSessionValidate is the floor for BenchmarkSessionParse: checking once that every line is
// JSON.
func BenchmarkSessionValidate(b *testing.B) {
	src := sessions(b)["claude-code-compacted"]
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range bytes.Split(bytes.TrimSpace(src), []byte("\n")) {
			if err := jsonspan.Validate(line); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkSessionParse reads a session file and writes it back without changes: within 1.6 times of
// BenchmarkSessionValidate.
func BenchmarkSessionParse(b *testing.B) {
	for name, src := range sessions(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := wire.Parse(src)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := d.Render(d.Conversation); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
