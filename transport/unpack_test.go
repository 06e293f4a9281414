package transport

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
)

// written returns a text as a writer that compresses writes it.
func written(t *testing.T, text string, open func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var out bytes.Buffer
	w, err := open(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// An answer that is compressed unasked is read, and booked; one that cannot be read is said to be one.
func TestAnswersThatAreCompressedUnasked(t *testing.T) {
	const object = `{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":1234,"output_tokens":2}}`
	const stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1234,\"output_tokens\":1}}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	gz := func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
	for name, test := range map[string]struct {
		encoding string
		pack     func(io.Writer) (io.WriteCloser, error)
		read     bool
	}{
		"gzip":       {"gzip", gz, true},
		"GZIP":       {" GZIP ", gz, true},
		"zlib":       {"deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }, true},
		"deflate":    {"deflate", func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 5) }, true},
		"zstd":       {"zstd", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }, true},
		"brotli":     {"br", gz, false},
		"two layers": {"gzip, br", gz, false},
	} {
		for kind, text := range map[string]string{"application/json": object, "text/event-stream": stream} {
			var used engine.Response
			w := newWorld(t, sandbox.Options{}, engine.Options{})
			b := &base{answer: func(*http.Request) *http.Response {
				res := response(http.StatusOK, kind, written(t, text, test.pack))
				res.Header.Set("Content-Encoding", test.encoding)
				res.Header.Set("Content-Length", "5")
				return res
			}}
			rt := New(w.engine, Options{Base: b, Done: func(_ *http.Request, _ *engine.Prepared, res engine.Response) { used = res }})
			res, got := post(t, rt, "/v1/messages", hello)
			fault := res.Header.Get(faultHeader)
			switch {
			case test.read && (got != text || used.Usage.Input != 1234 || fault != "" || res.Header.Get("Content-Encoding") != "" || res.Header.Get("Content-Length") != ""):
				t.Errorf("%s, %s: %q, used %+v, fault %q, header %v", name, kind, got, used.Usage, fault, res.Header)
			case !test.read && (got == text || res.Header.Get("Content-Encoding") != test.encoding || !strings.Contains(fault, "compressed")):
				t.Errorf("%s, %s: fault %q, header %v", name, kind, fault, res.Header)
			}
		}
	}
}

// What is compressed wrongly breaks off, and holds nothing up.
func TestAnswersThatAreCompressedWrongly(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	for _, encoding := range []string{"gzip", "deflate", "zstd"} {
		for _, body := range []string{"", "{}", "\x1f\x8b", "\x28\xb5\x2f\xfd"} {
			b := &base{answer: func(*http.Request) *http.Response {
				res := response(http.StatusOK, "application/json", body)
				res.Header.Set("Content-Encoding", encoding)
				return res
			}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/v1/messages", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			res, err := w.on(b).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(res.Body); err == nil && body != "" {
				t.Errorf("%s of %q is read", encoding, body)
			}
			if err := res.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
