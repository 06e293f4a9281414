package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/lazyregexp"
)

const (
	defaultMost    = 5 << 20
	defaultWait    = 30 * time.Second
	mostRedirects  = 5
	mostPages      = 8 // that are held, so that the next part of one need not be fetched again
	mostPageMemory = 4 << 20
)

// A fetcher fetches pages.
type fetcher struct {
	client *http.Client
	most   int64

	mu    sync.Mutex
	pages []page // the newest last
}

// A page is what was fetched, as text.
type page struct {
	url, text string
}

func newFetcher(o Fetch) *fetcher {
	d := &dialer{}
	for _, h := range o.Private {
		d.private = append(d.private, strings.ToLower(h))
	}
	t := &http.Transport{DialContext: d.dial, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 1 << 20, ForceAttemptHTTP2: true,
		MaxIdleConns: 4, IdleConnTimeout: 10 * time.Second}
	// No proxy: it would look up the address itself.
	return &fetcher{most: cmp.Or(o.Most, defaultMost), client: &http.Client{Transport: t, Timeout: cmp.Or(o.Timeout, defaultWait), CheckRedirect: sameHost}}
}

func (f *fetcher) close() { f.client.CloseIdleConnections() }

// sameHost follows redirects within a host. Others come back as they are.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > mostRedirects:
		return fmt.Errorf("more than %d redirects", mostRedirects)
	case r.URL.Host == first.Host && r.URL.Scheme == first.Scheme && r.URL.User == nil:
		return nil
	case r.URL.Host == first.Host && first.Scheme == "http" && r.URL.Scheme == "https" && r.URL.User == nil:
		return nil
	}
	return http.ErrUseLastResponse
}

type fetchArgs struct {
	URL    string `json:"url" jsonschema:"address of the page: http or https"`
	Offset int    `json:"offset,omitzero" jsonschema:"character to begin with; for pages that are longer than an answer"`
}

func (f *fetcher) tool() agent.Tool {
	t := agent.Func("fetch", "Fetches a page of the web as text; HTML becomes Markdown. Only public addresses are reached. A redirect to another host is reported, not followed. "+
		"A long page comes in parts: the end of each says how to go on.",
		func(ctx context.Context, _ *agent.Call, a fetchArgs) (agent.Result, error) { return f.fetch(ctx, a) })
	t.ReadOnly = true
	return previewed(t, func(a fetchArgs) (string, error) { return "GET " + a.URL + "\n", nil })
}

// fetch returns a part of a page.
func (f *fetcher) fetch(ctx context.Context, a fetchArgs) (r agent.Result, err error) {
	u, err := url.Parse(strings.TrimSpace(a.URL))
	switch {
	case err != nil:
		return r, fmt.Errorf("url: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return r, fmt.Errorf("url must begin with https:// or http:// and name a host: %q", a.URL)
	case u.User != nil:
		return r, errors.New("url must not have a name and a password in it")
	case a.Offset < 0:
		return r, errors.New("offset counts characters from 0")
	}
	u.Fragment = ""
	text, ok := f.held(u.String())
	if !ok || a.Offset == 0 {
		if text, err = f.get(ctx, u); err != nil {
			return r, err
		}
		f.hold(page{url: u.String(), text: text})
	}
	r.Text, err = partOf(text, a.Offset)
	r.Rest = "fetch it with an offset"
	return r, err
}

// partOf returns a part of a text, and says how to get the rest.
func partOf(text string, offset int) (string, error) {
	n := utf8.RuneCountInString(text)
	if offset > 0 && offset >= n {
		return "", fmt.Errorf("the page has only %d characters", n)
	}
	for range offset {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	if n-offset <= mostPage {
		return text, nil
	}
	end := 0
	for range mostPage {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end] + fmt.Sprintf("\n(%d of %d characters: go on with offset %d.)", mostPage, n, offset+mostPage), nil
}

// held returns a page that was fetched before.
func (f *fetcher) held(url string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.pages) - 1; i >= 0; i-- {
		if f.pages[i].url == url {
			return f.pages[i].text, true
		}
	}
	return "", false
}

// hold holds a page until there are newer ones.
func (f *fetcher) hold(p page) {
	if len(p.text) > mostPageMemory {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages = append(f.pages, p)
	f.pages = f.pages[max(0, len(f.pages)-mostPages):]
}

// userAgent says who calls.
const userAgent = "decant (+https://github.com/decantdev/decant)"

// get fetches a page.
func (f *fetcher) get(ctx context.Context, u *url.URL) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1")
	res, err := f.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if to := res.Header.Get("Location"); res.StatusCode >= 300 && res.StatusCode < 400 && to != "" {
		if loc, err := res.Location(); err == nil {
			to = loc.String()
		}
		return fmt.Sprintf("The page is at another host: %s answers with status %d and leads to %s. Fetch that if it is what you want.", u.Host, res.StatusCode, to), nil
	}
	text, err := f.body(res)
	if err == nil && res.StatusCode >= 400 {
		err = fmt.Errorf("%s answers with %s\n%.2000s", u.Host, res.Status, text)
	}
	return text, err
}

// body returns the body of an answer as text.
func (f *fetcher) body(res *http.Response) (string, error) {
	data, err := io.ReadAll(io.LimitReader(res.Body, f.most+1))
	if err != nil {
		return "", err
	}
	note := ""
	if int64(len(data)) > f.most {
		data, note = data[:f.most], fmt.Sprintf("\n(The page has more than %d bytes; what follows was not fetched.)", f.most)
	}
	kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(data))
	}
	if !readableType(kind) || binary(data) {
		return "", fmt.Errorf("the page is not text but %s, %d bytes", cmp.Or(kind, "of an unknown kind"), len(data))
	}
	text := decoded(data, params["charset"])
	if kind == "text/html" || kind == "application/xhtml+xml" {
		if text, err = markdown().ConvertString(text, converter.WithDomain(res.Request.URL.String())); err != nil {
			return "", fmt.Errorf("the HTML of the page cannot be read: %w", err)
		}
		text = inline.ReplaceAllString(text, "(data:...)")
	}
	return text + note, nil
}

// markdown returns what makes Markdown of HTML. Signs of a text stay as they are: a model reads them so, and to escape them takes a time that
// grows with the square of their number, so that a page of nothing but brackets would take hours.
func markdown() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()), converter.WithEscapeMode(converter.EscapeModeDisabled))
}

// inline matches what stands in a page in place of an address, which nobody can read.
var inline = lazyregexp.New(`\(data:[^)\s]{40,}\)`)

// readableType reports whether a kind of content is text.
func readableType(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-ndjson", "application/yaml", "application/toml", "application/x-sh", "":
		return true
	}
	return false
}

// decoded returns a text as UTF-8. Of other encodings it knows the one that is a byte per character; what does not fit is marked.
func decoded(data []byte, charset string) string {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "us-ascii", "windows-1252":
		if !utf8.Valid(data) {
			runes := make([]rune, len(data))
			for i, b := range data {
				runes[i] = rune(b)
			}
			return string(runes)
		}
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}
