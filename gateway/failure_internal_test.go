package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/modelhttp"
)

func TestReasonsDoNotSayWhereTheUpstreamIs(t *testing.T) {
	_, refused := http.Get("http://127.0.0.1:1/")
	_, unknown := http.Get("http://inner..invalid/") // no server of names is asked for such a one
	for _, err := range []error{refused, unknown, io.EOF, errors.New("10.0.0.7 is odd"), modelhttp.ErrDestination} {
		if err == nil {
			t.Fatal("no error")
		}
		got := reason(err)
		if got == "" || strings.Contains(got, "127.0.0.1") || strings.Contains(got, "inner") || strings.Contains(got, "10.0") {
			t.Errorf("%v is told as %q", err, got)
		}
	}
	if got := reason(refused); !strings.Contains(got, "refused") {
		t.Errorf("%v is told as %q", refused, got)
	}
}
