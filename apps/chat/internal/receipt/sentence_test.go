package receipt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   []string
	}{
		"plain":         {"It is 4711. Is that so? Yes!", []string{"It is 4711.", "Is that so?", "Yes!"}},
		"numbers":       {"It costs 3.50 EUR at v1.2.3 today. Fine.", []string{"It costs 3.50 EUR at v1.2.3 today.", "Fine."}},
		"short words":   {"See e.g. Dr. Smith, or J. Doe. He knows etc. and more.", []string{"See e.g. Dr. Smith, or J. Doe.", "He knows etc. and more."}},
		"quotes":        {"He said \"Stop.\" Then he left… Why?", []string{"He said \"Stop.\"", "Then he left…", "Why?"}},
		"soft wraps":    {"One sentence\nover two lines. Another\none.", []string{"One sentence\nover two lines.", "Another\none."}},
		"lists":         {"You need:\n- a file\n  that is long\n2. [x] the port 8443\n\n> quoted", []string{"You need:", "a file\n  that is long", "the port 8443", "quoted"}},
		"headings":      {"## The plan\nGo on.", []string{"The plan", "Go on."}},
		"tables":        {"| name | count |\n|---|--:|\n| apples | 3 |", []string{"name | count |", "apples | 3 |"}},
		"code":          {"Run:\n```go\nx := 1. \ny := 2.\n```\nDone.", []string{"Run:", "x := 1. \ny := 2.", "Done."}},
		"code, open":    {"~~~\na\n```\nb", []string{"a\n```\nb"}},
		"Chinese":       {"版本是3.2.1。端口是8443！真的吗？", []string{"版本是3.2.1。", "端口是8443！", "真的吗？"}},
		"Japanese":      {"「はい。」と言った。次です。", []string{"「はい。」", "と言った。", "次です。"}},
		"Hindi, Arabic": {"यह ठीक है। अच्छा। كم الثمن؟ عشرة.", []string{"यह ठीक है।", "अच्छा।", "كم الثمن؟", "عشرة."}},
		"inline code":   {"Call `a.b. c` now. Then stop.", []string{"Call `a.b. c` now.", "Then stop."}},
		"nothing":       {" \n\n---\n ... \n", nil},
	} {
		var got []string
		for _, p := range pieces(c.answer) {
			got = append(got, c.answer[p.start:p.end])
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Pieces follow each other, and no letter or digit of an answer is in none of them, but for markers of lists and fences.
func TestPiecesAreOfTheAnswer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		answer := rapid.StringOf(rapid.SampledFrom([]rune("ab 。.!?\n`#|->\"'1é版ー\t\xf0"))).Draw(r, "answer")
		checkPieces(r, answer)
	})
}

func checkPieces(t interface{ Fatalf(string, ...any) }, answer string) {
	at := 0
	for _, p := range pieces(answer) {
		if p.start < at || p.end <= p.start || p.end > len(answer) {
			t.Fatalf("%+v after %d in %q", p, at, answer)
		}
		if s := answer[p.start:p.end]; strings.TrimSpace(s) == "" {
			t.Fatalf("%+v is empty", p)
		}
		at = p.end
	}
}

func FuzzPieces(f *testing.F) {
	for _, s := range []string{"It is 4711. Yes!", "```\ncode\n```", "- a\n- b", "版本是3.2.1。", "a\x00.\xff b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		checkPieces(t, answer)
		for _, p := range pieces(answer) {
			termsOf(answer[p.start:p.end])
		}
		for _, p := range passagesOf(0, answer) {
			if p.start >= p.end || p.end > len(answer) {
				t.Fatalf("passage %+v of %d bytes", p, len(answer))
			}
		}
	})
}

func TestTerms(t *testing.T) {
	for text, want := range map[string]terms{
		"The build number is 4711.":                             {[]string{"4711"}, []string{"build", "number"}},
		"It costs 1,450 EUR, says Maria Lopez in /srv/a/b.go.":  {[]string{"/srv/a/b.go", "1,450", "Maria Lopez"}, []string{"cost", "eur", "say"}},
		"Use “the old cache” and `go test`.":                    {[]string{"the old cache", "go test"}, []string{"use"}},
		"版本是 3.2.1。":                                            {[]string{"3.2.1"}, []string{"版本", "本是"}},
		"See https://example.com/a?b=1 and ERR_4711, 23% of 7.": {[]string{"https://example.com/a?b=1", "ERR_4711", "23"}, []string{"see"}},
		"It is so.": {},
	} {
		if d := cmp.Diff(want, termsOf(text), cmp.AllowUnexported(terms{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestFindTakesNoParts(t *testing.T) {
	for _, c := range []struct {
		text, s string
		want    int
	}{
		{"port 8443.", "8443", 5}, {"18443 8443", "8443", 6}, {"8443.5 x", "8443", -1}, {"1,8443", "8443", -1}, {"a_8443", "8443", -1}, {"版本8443端口", "8443", 6},
		{"/srv/a/b.go:3", "/srv/a/b.go", 0}, {"xfoo foox foo", "foo", 10}, {"", "a", -1}, {"(8443)", "8443", 1}, {"8443, 9", "8443", 0},
	} {
		if got := find(c.text, c.s, 0); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.s, c.text, got, c.want)
		}
	}
}
