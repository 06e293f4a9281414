package github

import "strings"

// A query is one of a search.
type query struct {
	words  []string
	repos  []string
	path   string
	state  string // "open" or "closed"; empty: any
	kind   string // "issue" or "pr"; empty: any
	labels []string
	in     string // "title" or "body"; empty: both
}

// parseQuery reads a query: words, "phrases in quotes", and qualifiers such as repo:owner/name.
func parseQuery(text string) (q query) {
	for _, token := range tokens(text) {
		name, value, ok := strings.Cut(token, ":")
		value = unquote(value)
		switch {
		case !ok || strings.HasPrefix(token, `"`):
			q.words = append(q.words, unquote(token))
		case name == "repo":
			q.repos = append(q.repos, value)
		case name == "path":
			q.path = strings.TrimPrefix(value, "/")
		case name == "label":
			q.labels = append(q.labels, value)
		case name == "in":
			q.in = value
		case name == "state", name == "is" && (value == "open" || value == "closed"):
			q.state = value
		case name == "is", name == "type":
			q.kind = strings.TrimPrefix(value, "pull-request")
			if q.kind == "" {
				q.kind = "pr"
			}
		default:
			q.words = append(q.words, unquote(token))
		}
	}
	return q
}

// tokens splits a query at spaces that stand in no quotes.
func tokens(text string) (out []string) {
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range text + " " {
		switch {
		case escaped:
			escaped = false
			b.WriteRune(c)
			continue
		case c == '\\' && quoted:
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			if b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			continue
		}
		b.WriteRune(c)
	}
	return out
}

// unquote takes the quotes off.
func unquote(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
}
