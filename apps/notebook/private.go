package notebook

import (
	"regexp"
	"strings"

	"github.com/decantdev/decant/internal/secret"
)

var private = regexp.MustCompile(`(?is)<private>.*?(</private>|$)`)

// publicText returns a text without what may not be stored: text between <private> and </private>, and credentials.
func publicText(text string) string {
	return secret.Mask(private.ReplaceAllString(text, "<private></private>"))
}

// withoutPrivate returns a text without its private parts. An unclosed part is private to the end.
func withoutPrivate(text string) string {
	return strings.TrimSpace(private.ReplaceAllString(text, ""))
}

// keepable reports whether all of a text may be stored.
func keepable(text string) bool { return !private.MatchString(text) && secret.Mask(text) == text }

// wholes returns the pieces of a file that may not be stored whole, by what is stored of them.
func wholes(name, disk string) map[string]string {
	out := map[string]string{}
	if keepable(disk) {
		return out
	}
	for _, p := range parsePage(name, disk).Pieces {
		if is := publicText(p.Text); is != p.Text {
			out[is] = p.Text
		}
	}
	return out
}
