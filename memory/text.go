package memory

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/secret"
)

// Why a text is not remembered. Test with errors.Is.
var (
	// ErrEmpty means that a text says nothing.
	ErrEmpty = errors.New("nothing to remember")

	// ErrSecret means that a text is nothing but credentials.
	ErrSecret = errors.New("a credential is not remembered")
)

// MaxText is how many characters the text of an item has at most. What is longer is cut.
const MaxText = 1000

// mostRead is how many bytes of a text are looked at: no text that is worth remembering is longer.
const mostRead = 64 << 10

// clean returns a text as it may be remembered: on one line, without credentials, and not too long. Credentials are
// masked before the text is cut, since a part of one might not be known for what it is.
func clean(text string) (string, error) {
	line := secret.Mask(oneLine(secret.MaskVisible(text, mostRead))) // what stood on several lines may be known on one
	switch {
	case line == "":
		return "", ErrEmpty
	case !telling(line):
		return "", ErrSecret
	}
	return cut(line, MaxText), nil
}

// mask is the placeholder of a credential.
var mask = regexp.MustCompile(`\[redacted [a-z0-9-]+\]`)

// telling reports whether a text says more than the credentials that were masked in it, and what they are called.
func telling(masked string) bool {
	return !mask.MatchString(masked) || len(strings.FieldsFunc(mask.ReplaceAllString(masked, " "), notWord)) >= leastWords
}

// leastWords is how many words stand beside a credential that is worth remembering without it: "token: ..." and
// "export TOKEN=..." say nothing then.
const leastWords = 3

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// oneLine returns s with each run of white space and control characters as one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// cut returns at most n characters of s, an ellipsis included, and ends with a whole word if one ends near.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)[:n-1]
	out := string(runes)
	if i := strings.LastIndexByte(out, ' '); i > len(out)*3/4 {
		out = out[:i]
	}
	return out + "…"
}
