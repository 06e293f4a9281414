package dialecttest

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/decantdev/decant/internal/dialect"
)

// request returns a request without a body.
func request(method, path string) *http.Request {
	return &http.Request{
		Method: method, URL: &url.URL{Scheme: "https", Host: "api.test", Path: path}, Header: http.Header{},
	}
}

// doors checks which requests are for what.
func doors(t *testing.T, d dialect.Dialect, list []Door) {
	var kinds []dialect.Kind
	for _, c := range list {
		for _, base := range []string{"", "/proxy/of/a/company"} {
			want := c.Want
			if want.Kind != dialect.Unknown && want.Kind != dialect.Free {
				want.Base = base
			}
			if got := d.Door(request(c.Method, base+c.Path)); got != want {
				t.Errorf("%s %s is %+v, want %+v", c.Method, base+c.Path, got, want)
			}
		}
		kinds = append(kinds, c.Want.Kind)
	}
	for _, k := range []dialect.Kind{dialect.Unknown, dialect.Prompt} {
		if !slices.Contains(kinds, k) {
			t.Errorf("no door of the kind %d is tried", k)
		}
	}
	if _, ok := d.(dialect.Batcher); ok != slices.Contains(kinds, dialect.Batch) {
		t.Errorf("a dialect with doors for batches must be a dialect.Batcher, and no other: %t", ok)
	}
	for _, path := range []string{"", "/", "/favicon.ico", "/healthz", "/v1", "/v1/", "/v1/unheard-of"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if got := d.Door(request(method, path)); got != (dialect.Door{}) {
				t.Errorf("%s %q is %+v, want that it is not known", method, path, got)
			}
		}
	}
	for _, path := range d.About().Metered {
		if k := d.Door(request(http.MethodPost, path)).Kind; k != dialect.Prompt && k != dialect.Batch {
			t.Errorf("what %s costs is said to be counted, and its door has the kind %d", path, k)
		}
	}
}
