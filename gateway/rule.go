package gateway

import (
	"strings"

	"github.com/decantdev/decant/preset"
)

// A Rule chooses the preset of requests by model or client. Patterns may hold "*" for any number of
// characters and ignore case; an empty pattern matches everything.
type Rule struct {
	Model  string // of the request
	Client string // the User-Agent header
	Preset *preset.Preset
}

func (r *Rule) fits(model func() string, client string) bool {
	return (r.Client == "" || match(r.Client, client)) && (r.Model == "" || match(r.Model, model()))
}

// match reports whether s matches a pattern.
func match(pattern, s string) bool {
	pattern, s = strings.ToLower(pattern), strings.ToLower(s)
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[last])
}
