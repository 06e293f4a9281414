package jsonspan

import (
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// request returns the body of a real request of 380 kB.
func request(b *testing.B) []byte {
	f, err := os.Open("../../wire/testdata/bodies/anthropic-large.json.gz")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	src, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	return src
}

// BenchmarkValidate compares the quick check with the syntax package.
func BenchmarkValidate(b *testing.B) {
	src := request(b)
	for _, v := range []struct {
		name     string
		validate func([]byte) error
	}{{"Quick", Validate}, {"SyntaxPackage", validate}} {
		b.Run(v.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := v.validate(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
