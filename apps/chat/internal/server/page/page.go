// Package page is the one page of the chat service: HTML, CSS and small modules that are embedded in the binary.
//
// The page does everything through the API that openapi.yaml of package chatserver describes, on the host that it came from; it asks
// nothing of any other. What a model or a tool said is shown by nodes of text alone, and the policy that each answer carries keeps
// the browser from running anything that is not one of these files, even if a mistake let it in.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// policy is the content security policy of all answers. Images are also those that the user is about to attach (blob:). What would turn
// text into markup is switched off as a whole (trusted types).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are the media types of the files. They do not depend on the machine, as those of package mime do.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// A file is one of the page's, as it is served.
type file struct {
	content []byte
	media   string
	tag     string // of HTTP, by the content
}

// Handler returns what serves the page at / and its files under /page/. Any other path is not found. Browsers ask each time whether a
// file has changed, so that a new version is there at once.
func Handler() http.Handler {
	files := map[string]file{}
	err := fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := assets.ReadFile(name)
		sum := sha256.Sum256(content)
		tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		files["/page"+strings.TrimPrefix(name, "assets")] = file{content, types[path.Ext(name)], tag}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("the page is not in the binary: %v", err)) // it was there when the binary was built
	}
	files["/"] = files["/page/index.html"]
	delete(files, "/page/index.html")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, files) })
}

// serve answers with a file.
func serve(w http.ResponseWriter, r *http.Request, files map[string]file) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	f, ok := files[r.URL.Path]
	switch {
	case !ok:
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
	default:
		h.Set("Content-Type", f.media)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", f.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	}
}
