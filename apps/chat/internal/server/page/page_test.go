package page_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/chat/internal/server/page"
)

func get(t *testing.T, method, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestHandlerServesEachFileWithItsType(t *testing.T) {
	for _, c := range []struct {
		method, path, media string
		status              int
	}{
		{"GET", "/", "text/html; charset=utf-8", 200},
		{"HEAD", "/", "text/html; charset=utf-8", 200},
		{"GET", "/page/main.js", "text/javascript; charset=utf-8", 200},
		{"GET", "/page/style.css", "text/css; charset=utf-8", 200},
		{"GET", "/page/icon.svg", "image/svg+xml", 200},
		{"GET", "/page/index.html", "text/plain; charset=utf-8", 404},
		{"GET", "/page/../page.go", "text/plain; charset=utf-8", 404},
		{"GET", "/other", "text/plain; charset=utf-8", 404},
		{"POST", "/", "text/plain; charset=utf-8", 405},
	} {
		res := get(t, c.method, c.path)
		if got := res.Header.Get("Content-Type"); res.StatusCode != c.status || got != c.media {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, got, c.status, c.media)
		}
	}
}

func TestHandlerSendsThePolicyWithEveryAnswer(t *testing.T) {
	for _, path := range []string{"/", "/page/main.js", "/nothing"} {
		h := get(t, "GET", path).Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is not strict: %s", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestHandlerAnswersWithNothingWhenNothingHasChanged(t *testing.T) {
	first := get(t, "GET", "/page/main.js")
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%v", first.Header)
	}
	if res := get(t, "GET", "/page/main.js", "If-None-Match", tag); res.StatusCode != 304 {
		t.Errorf("the same tag: %d, want 304", res.StatusCode)
	}
	if res := get(t, "GET", "/page/chat.js", "If-None-Match", tag); res.StatusCode != 200 {
		t.Errorf("the tag of another file: %d, want 200", res.StatusCode)
	}
}

// What the policy forbids must not be in the files either: a browser would leave it out without a word.
func TestFilesNeedNothingThatThePolicyForbids(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\bstyle="|\son[a-z]+="|https?://(?:www\.)?[a-z]|<style|javascript:`)
	files := os.DirFS("assets")
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		for _, found := range forbidden.FindAllString(strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", ""), -1) {
			t.Errorf("%s has %s", name, found)
		}
		if get(t, "GET", "/page/"+name).Header.Get("Content-Type") == "" && name != "index.html" {
			t.Errorf("%s has no media type", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
