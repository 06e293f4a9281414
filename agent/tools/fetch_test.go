package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/agent/tools"
)

// site is a host with pages.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	m := http.NewServeMux()
	say := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	m.HandleFunc("/page", say("text/html; charset=utf-8", `<html><head><title>T</title><style>p{}</style><script>evil()</script></head>`+
		`<body><h1>Head</h1><p>Some <b>bold</b> <a href="/x">link</a></p><ul><li>one</li></ul><img alt="pic" src="data:image/png;base64,`+strings.Repeat("A", 500)+`"></body></html>`))
	m.HandleFunc("/text", say("text/plain", "plain \x1b[31m text\n"))
	m.HandleFunc("/json", say("application/json", `{"a":1}`))
	m.HandleFunc("/latin", say("text/plain; charset=ISO-8859-1", "caf\xe9"))
	m.HandleFunc("/png", say("image/png", "\x89PNG\x00"))
	m.HandleFunc("/bytes", say("text/plain", "a\x00b"))
	m.HandleFunc("/long", say("text/plain", strings.Repeat("é", 30_000)+strings.Repeat("ü", 10)))
	m.HandleFunc("/large", say("text/plain", strings.Repeat("x", 3000)))
	m.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not here", http.StatusNotFound) })
	m.HandleFunc("/near", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/text", http.StatusFound) })
	m.HandleFunc("/far", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/page", http.StatusMovedPermanently)
	})
	m.HandleFunc("/circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/circle", http.StatusFound) })
	m.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	m.HandleFunc("/inside", func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		http.Redirect(w, r, "http://localhost:"+port+"/text", http.StatusFound)
	})
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s
}

func TestFetch(t *testing.T) {
	s := site(t)
	host := strings.TrimPrefix(s.URL, "http://")
	b := newBench(t, tools.Options{Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Private: []string{host}, Most: 70_000}})
	for path, want := range map[string]string{
		"/page": "# Head\n\nSome **bold** [link](" + s.URL + "/x)\n\n- one\n\n![pic](data:...)", "/text": "plain \x1b[31m text\n", "/json": `{"a":1}`, "/latin": "café",
		"/near": "plain \x1b[31m text\n", "/text#part": "plain \x1b[31m text\n",
		"/far": "The page is at another host: " + host + " answers with status 301 and leads to https://elsewhere.example/page. Fetch that if it is what you want.",
	} {
		if got := b.try("fetch", args{"url": s.URL + path}); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"/png": "error: the page is not text but image/png", "/bytes": "error: the page is not text", "/missing": "error: " + host + " answers with 404 Not Found\nnot here",
		"/circle": "more than 5 redirects", "/long": "(30000 of 30010 characters: go on with offset 30000.)",
		"/inside": "The page is at another host",
	} {
		b.has(b.try("fetch", args{"url": s.URL + path}), want)
	}
	if got := b.try("fetch", args{"url": s.URL + "/long", "offset": 30_000}); got != strings.Repeat("ü", 10) {
		t.Errorf("the rest is %q", got)
	}
	b.has(b.try("fetch", args{"url": s.URL + "/long", "offset": 40_000}), "error: the page has only 30010 characters")
	hasty := newBench(t, tools.Options{Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Private: []string{host}, Timeout: 50 * time.Millisecond}})
	b.has(hasty.try("fetch", args{"url": s.URL + "/slow"}), "awaiting")
	small := newBench(t, tools.Options{Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Private: []string{"127.0.0.1"}, Most: 1000}})
	b.has(small.try("fetch", args{"url": s.URL + "/large"}), strings.Repeat("x", 1000)+"\n(The page has more than 1000 bytes")
}

// Nothing but public addresses is reached: by whatever name, and wherever a redirect leads.
func TestFetchReachesPublicAddressesOnly(t *testing.T) {
	s := site(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	b := newBench(t, tools.Options{Shell: tools.Shell{Off: true}})
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "127.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1",
		"169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "168.63.129.16", "255.255.255.255", "224.0.0.1", "[ff02::1]",
	} {
		got := b.try("fetch", args{"url": "http://" + host + ":" + port + "/text"})
		if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "its address is not public") {
			t.Errorf("%s: %q", host, got)
		}
	}
	for _, u := range []string{"", "file:///etc/passwd", "ftp://example.com", "http://", "//example.com", "http://user:pass@example.com/", "gopher://x", "http://[", "/etc/passwd"} {
		if got := b.try("fetch", args{"url": u}); !strings.HasPrefix(got, "error: url") {
			t.Errorf("%q: %q", u, got)
		}
	}
	if got := b.preview("fetch", args{"url": "https://example.com/x"}); got != "GET https://example.com/x\n" {
		t.Errorf("preview: %q", got)
	}
}

// A page of nothing but signs of Markdown takes no longer than another, and what stands in a text stays as it is. Where signs are escaped,
// this page takes hours.
func TestFetchOfSignsEnds(t *testing.T) {
	text := strings.Repeat("[", 2_000_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>call do_it(*x)</p><p>"+text)
	}))
	t.Cleanup(s.Close)
	b := newBench(t, tools.Options{Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Private: []string{"127.0.0.1"}}})
	b.has(b.try("fetch", args{"url": s.URL}), "call do_it(*x)\n\n[[[[", "of 2000016 characters")
}

// How long an answer may take is up to who sends requests through the transport of a Web: a call of an MCP server takes minutes.
func TestTheTransportWaits(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "at last") }))
	defer s.Close()
	web := tools.NewWeb(tools.Fetch{Private: []string{"127.0.0.1"}, Timeout: time.Nanosecond})
	defer web.Close()
	res, err := (&http.Client{Transport: web.Transport()}).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); string(text) != "at last" {
		t.Errorf("%q, %v", text, err)
	}
}
