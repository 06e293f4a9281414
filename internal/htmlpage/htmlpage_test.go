package htmlpage

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// hostile are values that would leave their place if they were not escaped.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "</title><script>", "<!--", "--><b>",
	"&lt;b&gt;", "a\x00b", "+ADw-script+AD4-", "%s %d %!", "`onload=alert(1)`", "\xff<b>", "</textarea><svg onload=alert(1)>",
}

// A value stays text: the page has the elements and attributes of its markup and no others, and shows the value.
func TestValuesStayText(t *testing.T) {
	for _, text := range hostile {
		var p Page
		p.Add(`<p title="%s">%s</p>`, text, text)
		doc, err := html.Parse(strings.NewReader(p.HTML().String()))
		if err != nil {
			t.Fatal(err)
		}
		body := doc.FirstChild.LastChild
		para := body.FirstChild
		if para == nil || para.Data != "p" || para.NextSibling != nil || len(para.Attr) != 1 {
			t.Fatalf("%q changes the page: %s", text, p.HTML())
		}
		want := strings.ReplaceAll(text, "\x00", "\uFFFD")
		if c := para.FirstChild; c == nil || c.Type != html.TextNode || c.NextSibling != nil || c.Data != want {
			t.Errorf("%q is shown as %s", text, p.HTML())
		}
		if para.Attr[0].Val != want {
			t.Errorf("%q is the attribute %q", text, para.Attr[0].Val)
		}
	}
}

// A page is put into another one as it is, and once.
func TestMarkupIsNotEscapedTwice(t *testing.T) {
	var inner, outer Page
	inner.Add("<b>%s</b>", "a & b")
	outer.Add("<p>%s, %d, %.1f", inner.HTML(), 7, 0.25)
	if got, want := outer.HTML().String(), "<p><b>a &amp; b</b>, 7, 0.2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLink(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/a?b=c&d='e'":   "https://example.com/a?b=c&amp;d=&#39;e&#39;",
		"http://example.com/\"><script>":    "http://example.com/%22%3E%3Cscript%3E",
		"HTTPS://example.com/a b#L3":        "https://example.com/a%20b#L3",
		"javascript:alert(1)":               "",
		" javascript:alert(1)":              "",
		"JavaScript://example.com/%0aalert": "",
		"data:text/html,<script>":           "",
		"vbscript:x":                        "",
		"//example.com":                     "",
		"https:example.com":                 "",
		"\x01https://example.com":           "",
		"":                                  "",
	} {
		got, ok := Link(address)
		if got.String() != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", address, got, ok, want)
		}
	}
}
