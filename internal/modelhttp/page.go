package modelhttp

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode"
)

// mostPage is how much of a page is repeated, in bytes.
const mostPage = 200

// Page says what an error answer shows that is not of the API but of something in between, as proxies write it: the title
// of a page of HTML, or the first line of a text. It is empty for JSON, and for an answer that shows nothing.
func Page(body []byte) string {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(body[:min(len(body), mostError)])), "")
	switch {
	case text == "" || text[0] == '{' || text[0] == '[' || text[0] == '"':
		return ""
	case text[0] == '<':
		text = title(text)
	}
	text, _, _ = strings.Cut(text, "\n")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if text == "" {
		return "a page, not an answer of the API; is something in between?"
	}
	return fmt.Sprintf("a page, not an answer of the API: %q; is something in between?", strings.ToValidUTF8(text[:min(len(text), mostPage)], ""))
}

// title returns the title of a page, or its heading.
func title(page string) string {
	lower := strings.ToLower(page)
	if len(lower) != len(page) {
		lower = page // letters whose other case has another length
	}
	for _, tag := range []string{"title", "h1"} {
		if _, after, ok := strings.Cut(lower, "<"+tag); ok {
			if begin, end := strings.IndexByte(after, '>'), strings.Index(after, "</"+tag); begin >= 0 && begin < end {
				rest := page[len(page)-len(after):]
				return strings.ReplaceAll(html.UnescapeString(rest[begin+1:end]), "\n", " ")
			}
		}
	}
	return ""
}
