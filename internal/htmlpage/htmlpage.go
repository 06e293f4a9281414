// Package htmlpage writes HTML pages by code. Markup can only be a constant of the program; every value in it is
// escaped. Unlike html/template it calls no method by its name, which would keep every method of a program in it.
package htmlpage

import (
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
)

// A Page is HTML that is being written. The zero value is an empty page.
type Page struct{ b strings.Builder }

// HTML is markup that a Page has produced, so it needs no escaping.
type HTML struct{ markup string }

// constant is the type of markup. Its name is not exported, so that other packages can pass constants and no variables.
type constant string

// Add appends markup with values in it, which follow the verbs of package fmt. Put values into text or between the
// quotes of an attribute, and nowhere else. An address of a link needs Link.
func (p *Page) Add(markup constant, values ...any) {
	safe := make([]any, len(values))
	for i, v := range values {
		safe[i] = shown(v)
	}
	fmt.Fprintf(&p.b, string(markup), safe...)
}

// shown returns a value as a page may show it: a number and markup as they are, text escaped. Other values, such as a
// function that was not called, are a mistake of the program.
func shown(v any) any {
	if h, ok := v.(HTML); ok {
		return h.markup
	}
	switch k := reflect.ValueOf(v).Kind(); {
	case k >= reflect.Int && k <= reflect.Float64:
		return v
	case k == reflect.String:
		return Escape(fmt.Sprint(v))
	}
	panic(fmt.Sprintf("htmlpage: a page cannot show a %T", v))
}

// Raw appends a constant as it is: it has no verbs.
func (p *Page) Raw(markup constant) { p.b.WriteString(string(markup)) }

// Style appends a style sheet. It must be a file of the program, never what comes from outside.
func (p *Page) Style(css string) { p.b.WriteString(css) }

// HTML returns what has been written, for use within another page.
func (p *Page) HTML() HTML { return HTML{p.b.String()} }

// WriteTo writes the page to w.
func (p *Page) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, p.b.String())
	if err != nil {
		return int64(n), fmt.Errorf("write the page: %w", err)
	}
	return int64(n), nil
}

// Empty reports whether there is no markup.
func (h HTML) Empty() bool { return h.markup == "" }

// String returns the markup.
func (h HTML) String() string { return h.markup }

// escapes are the characters that end text or an attribute, or begin something else. A plus sign is among them because
// old browsers decode UTF-7.
var escapes = strings.NewReplacer(
	"\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// Escape returns text that HTML shows as it is, in text and between the quotes of an attribute.
func Escape(text string) string { return escapes.Replace(text) }

// Link returns an address for an href, and whether a page may link to it: only http and https, since others, such as
// javascript:, run programs.
func Link(address string) (HTML, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return HTML{}, false
	}
	return HTML{Escape(u.String())}, true
}
