package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/internal/report"
)

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"Text", "plain text,\ttabs\nand lines: äöü 日本 😀 \ue0a0", "plain text,\ttabs\nand lines: äöü 日本 😀 \ue0a0"},
		{"Colour", "\x1b[1;31mred", "␛[1;31mred"},
		{"Title", "\x1b]0;title\x07", "␛]0;title␇"},
		{"Return", "10%\r20%\b\x7f", "10%␍20%␈␡"},
		{"C1", "\u009b31m", "<U+009B>31m"},
		{"C1Byte", "\x9b31m", "\ufffd31m"},
		{"Direction", "a\u202eb\u2066c\u200f\u061c", "a<U+202E>b<U+2066>c<U+200F><U+061C>"},
		{"Joiners", "a\u200bb\u200d\ufeff\u00ad\u2060", "a<U+200B>b<U+200D><U+FEFF><U+00AD><U+2060>"},
		{"Lines", "a\u2028b\u2029", "a<U+2028>b<U+2029>"},
		{"Tags", "a\U000e0041\U000e0102", "a<U+E0041><U+E0102>"},
		{"Fillers", "\u3164\u115f\u034f", "<U+3164><U+115F><U+034F>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := report.Visible(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// However a text is cut into writes, a terminal gets what [report.Visible] makes of the whole.
func TestScreenShowsWhatIsCutApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[31m", "\u009b", "\x9b", "\u202e", "\xe2\x80", "\xf0\x9f", "\n"}))).Draw(t, "parts")
		text := strings.Join(parts, "")
		var b bytes.Buffer
		s := &report.Screen{Terminal: &b}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			if k, err := io.WriteString(s, rest[:n]); err != nil || k != n {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), report.Visible(text); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if !utf8.Valid(b.Bytes()) || strings.ContainsAny(b.String(), "\x1b\r\u009b\u202e") {
			t.Fatalf("a terminal would obey %q", b.String())
		}
	})
}

// Colours of the program's own reach the terminal, those of a text do not.
func TestScreenKeepsOwnColours(t *testing.T) {
	var b bytes.Buffer
	s := &report.Screen{Terminal: &b, Columns: 80}
	hits := []report.Hit{{Conversation: "c\x1b[2J", Session: "s\u202e", Message: "m1", Tool: "t\x9b", Kind: "tool_use", Snippet: "a\x1b[31mneedle b", Match: [2]int{6, 12}}}
	if err := report.WriteHits(s, hits, true); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteDiff(s, report.Text{Name: "a\x1b[2J", Text: "x\x1b[2J\n"}, report.Text{Name: "b", Text: "y\n"}, true); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, own := range []string{"\x1b[1mneedle\x1b[0m", "\x1b[31m-x"} {
		if !strings.Contains(got, own) {
			t.Errorf("%q is not in %q", own, got)
		}
		got = strings.ReplaceAll(got, own, "")
	}
	for _, own := range []string{"\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[36m"} {
		got = strings.ReplaceAll(got, own, "")
	}
	if strings.ContainsAny(got, "\x1b\u202e\u009b") || !utf8.ValidString(got) {
		t.Errorf("a terminal would obey %q", got)
	}
}

func TestArchiveIsPlainMarkdown(t *testing.T) {
	var b bytes.Buffer
	err := report.WriteArchive(&b, []report.Archived{{File: "a.json", Project: `a\|b`, Model: "m\x1b[2J`x`", About: "say <script> [x](http://evil.test) \u202e![y](z) | *b*"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `| a\\\|b | m␛\[2J\` + "`x\\`" + ` | say &lt;script&gt; \[x\](http://evil.test) &lt;U+202E&gt;\!\[y\](z) \| \*b\* | [a.json](a.json) |`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got %s\nwant %s", b.String(), want)
	}
}
