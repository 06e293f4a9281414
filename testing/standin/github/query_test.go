package github

import (
	"strings"
	"testing"
)

func TestParseQuery(t *testing.T) {
	q := parseQuery(`"a \"b\" c" repo:x/y is:open is:issue label:"needs fix" path:/src word in:title`)
	if strings.Join(q.words, "|") != `a "b" c|word` || q.repos[0] != "x/y" || q.state != "open" || q.kind != "issue" || q.labels[0] != "needs fix" || q.path != "src" || q.in != "title" {
		t.Errorf("%+v", q)
	}
}

func FuzzParseQuery(f *testing.F) {
	f.Add(`"a b" repo:x/y is:open label:"a b" -- in:title`)
	f.Fuzz(func(t *testing.T, text string) {
		q := parseQuery(text)
		if n := len(q.words) + len(q.repos) + len(q.labels); n > len(text) {
			t.Errorf("%q has %d parts", text, n)
		}
	})
}
