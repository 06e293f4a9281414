package sandbox_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/sandbox"
)

// start serves a sandbox on loopback.
func start(t testing.TB, opts sandbox.Options) (*sandbox.Server, string) {
	t.Helper()
	s := sandbox.New(opts)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

// An answer is what came back from a call.
type answer struct {
	status int
	header http.Header
	body   string
}

// do makes one call with the headers that every client sends. Pairs of header names and values are
// set over them; an empty value removes the header.
func do(t testing.TB, method, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
		return answer{}
	}
	req.Header.Set("x-api-key", "key")
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set("content-type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Del(header[i])
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
		return answer{}
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, res.Body); err != nil {
		t.Errorf("%s %s: read the answer: %v", method, url, err)
	}
	return answer{res.StatusCode, res.Header, b.String()}
}
