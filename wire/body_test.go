package wire_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/decantdev/decant/wire"
)

// bodies are the request bodies in testdata and the format of each.
var bodies = map[string]wire.Format{
	"anthropic-session.json":  wire.Anthropic,
	"anthropic-large.json.gz": wire.Anthropic,
	"chat-airline.json":       wire.OpenAIChat,
	"chat-log.json":           wire.OpenAIChat,
	"responses-session.json":  wire.OpenAIResponses,
}

// body returns a request body of testdata, unpacked.
func body(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", "bodies", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	src, err := wire.Read(f)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

// parsed returns the document of a body of testdata.
func parsed(tb testing.TB, name string) *wire.Document {
	tb.Helper()
	d, err := wire.Parse(body(tb, name))
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return d
}
