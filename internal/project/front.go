package project

import (
	"errors"
	"strings"

	"github.com/decantdev/decant/internal/yamltext"
)

// front splits Markdown into its front matter and the rest. Each key is parsed by itself: what agents write
// there is not always YAML ("argument-hint: [issue] [how]"), and then the text is the value.
func front(text string) (matter map[string]string, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, strings.TrimSpace(text), nil
	}
	head, body, ok := strings.Cut("\n"+strings.TrimRight(rest, "\n")+"\n", "\n---\n")
	if !ok {
		return nil, "", errors.New(`the front matter has no end; want a line with "---"`)
	}
	matter = map[string]string{}
	for _, part := range parts(head) {
		if key, value, ok := strings.Cut(part, ":"); ok {
			matter[strings.TrimSpace(key)] = oneLine(valueOf(part, value))
		}
	}
	return matter, strings.TrimSpace(body), nil
}

// parts returns the keys of front matter with their values, which continue on indented lines.
func parts(head string) (out []string) {
	for line := range strings.Lines(head) {
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case (line[0] == ' ' || line[0] == '\t' || line[0] == '-') && len(out) > 0:
			out[len(out)-1] += line
		default:
			out = append(out, line)
		}
	}
	return out
}

// valueOf returns the text of a part as YAML, or as it is written.
func valueOf(part, value string) string {
	var m map[string]any
	if yamltext.Unmarshal([]byte(part), &m) == nil {
		for _, v := range m {
			if s, ok := v.(string); ok {
				return s
			}
		}
	}
	return value
}

// oneLine returns a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
