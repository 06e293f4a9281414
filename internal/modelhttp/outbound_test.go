package modelhttp_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/modelhttp"
)

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func outbound(t *testing.T, o modelhttp.OutboundOptions) *http.Client {
	t.Helper()
	out, err := modelhttp.NewOutbound(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.CloseIdleConnections)
	return &http.Client{Transport: out}
}

func fetch(c *http.Client, u string) (string, error) {
	res, err := c.Get(u)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

func TestOutboundReachesTheListOnly(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		io.WriteString(w, "here")
	}))
	defer up.Close()
	c := outbound(t, modelhttp.OutboundOptions{Allow: []*url.URL{parse(t, up.URL+"/base")}})
	if got, err := fetch(c, up.URL+"/anything"); got != "here" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, u := range []string{
		other.URL, up.URL + "/away", strings.Replace(up.URL, "http:", "https:", 1), strings.Replace(up.URL, "127.0.0.1", "127.0.0.2", 1), "http://169.254.169.254/latest/meta-data",
	} {
		if _, err := fetch(c, u); !errors.Is(err, modelhttp.ErrDestination) {
			t.Errorf("%s: %v, want ErrDestination", u, err)
		}
	}
}

func TestOutboundGoesThroughTheProxy(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		io.WriteString(w, "by proxy")
	}))
	defer proxy.Close()
	through := func(*http.Request) (*url.URL, error) { return parse(t, proxy.URL), nil }
	c := outbound(t, modelhttp.OutboundOptions{Allow: []*url.URL{parse(t, "http://api.example")}, Proxy: through})
	if got, err := fetch(c, "http://api.example/v1/models"); got != "by proxy" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if got := <-asked; got != "http://api.example/v1/models" {
		t.Errorf("the proxy was asked for %s", got)
	}
	if _, err := fetch(c, "http://elsewhere.example/"); !errors.Is(err, modelhttp.ErrDestination) {
		t.Errorf("%v, want ErrDestination also where a proxy would go", err)
	}
	if _, err := fetch(c, proxy.URL); !errors.Is(err, modelhttp.ErrDestination) {
		t.Errorf("%v: the proxy is not a destination", err)
	}
}

func TestOutboundTrustsAuthoritiesOfItsOwn(t *testing.T) {
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secure") }))
	defer up.Close()
	up.Config.ErrorLog = nil
	allow := []*url.URL{parse(t, up.URL)}
	if _, err := fetch(outbound(t, modelhttp.OutboundOptions{Allow: allow}), up.URL); err == nil {
		t.Error("a certificate of nobody's was accepted")
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: up.Certificate().Raw})
	if got, err := fetch(outbound(t, modelhttp.OutboundOptions{Allow: allow, CA: [][]byte{cert}}), up.URL); got != "secure" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
