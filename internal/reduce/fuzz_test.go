package reduce

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// FuzzClean guards the terminal: nothing grows, no rune is split, no escape sequence that was obeyed stays, and
// plain text comes back as it is.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain\r\n", "\x1b[31mred\x1b[0m", "10%\r20%\n", "a\b\bb", "\x1b]0;t\x07x",
		"\x1b[2A\x1b[Kx", "中\r文字", "\x1b", "\x1b[", "\x1b[999999999999A", "é\bx", "\x1b(B", "a\n\x1b[1Ab\x1b[5Bc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := clean(text)
		if len(got) > len(text) {
			t.Errorf("%q grew to %q", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q: a rune was split: %q", text, got)
		}
		if !strings.ContainsAny(text, "\x1b\r\b") && got != text {
			t.Errorf("plain %q became %q", text, got)
		}
		if again := clean(got); again != got {
			t.Errorf("%q: second run %q", got, again)
		}
	})
}

// FuzzTrim guards that a cut is never longer and splits no rune.
func FuzzTrim(f *testing.F) {
	f.Add("a\nb\nc\n", 2, 1, 1, false)
	f.Add(strings.Repeat("界", 5000), 100, 50, 50, false)
	f.Add(strings.Repeat("x\n", 500)+"error: y\n", 100, 30, 30, true)
	f.Fuzz(func(t *testing.T, text string, over, head, tail int, literal bool) {
		c := decant.Conversation{Messages: []decant.Message{
			{
				Number: 1, Role: decant.RoleAssistant,
				Blocks: []decant.Block{{Kind: decant.KindUse, Name: "Bash", CallID: "1", Content: decant.Text("{}"), Ref: decant.Ref{Message: 1}}},
			},
			{
				Number: 2, Role: decant.RoleUser,
				Blocks: []decant.Block{{Kind: decant.KindResult, CallID: "1", Content: decant.Text(text), Ref: decant.Ref{Message: 2}}},
			},
			{Number: 3, Role: decant.RoleAssistant},
		}}
		for _, d := range Trim(Of(context.Background(), &c, Options{Counter: bytesCounter{}}),
			Trimming{Over: over, Head: head, Tail: tail, Literal: literal}) {
			if len(d.Text) >= len(text) || utf8.ValidString(text) && !utf8.ValidString(d.Text) {
				t.Errorf("%q became %q", text, d.Text)
			}
		}
	})
}

// FuzzNames guards that names are parts of the text, in order, and that nothing panics.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"func (s *T) Foo(a bar.Baz) {", "see https://a.b/c?d=e, and ./x/y.go:12:3",
		"--flag=1 a/b.go-608-x", "\\nReturn", "<system-reminder>", "中a_b文", "..", "a://", "12\tdefmodule X.Y do"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := -1
		eachName(text, func(n string, k kind, at int) {
			if at <= last || at+len(n) > len(text) || text[at:at+len(n)] != n || k == kindNone {
				t.Errorf("%q: %q at %d after %d", text, n, at, last)
			}
			last = at
		})
		collect(text)
	})
}

type bytesCounter struct{}

func (bytesCounter) Count(text string) int { return len(text) }

// session is a made-up session of the given number of rounds: reads, edits and test runs.
func session(rounds int) *decant.Conversation {
	c := &decant.Conversation{}
	text := strings.Repeat("\tfunc handleSomething(ctx context.Context, req *Request) error { return doSomethingElse(ctx, req.Field) }\n", 40)
	add := func(role decant.Role, b decant.Block) {
		b.Ref.Message = len(c.Messages) + 1
		c.Messages = append(c.Messages, decant.Message{Number: b.Ref.Message, Role: role, Blocks: []decant.Block{b}})
	}
	calls := []string{`{"file_path":"/r/a.go"}`, `{"command":"go test ./..."}`, `{"pattern":"handle"}`}
	for i := range rounds {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		add(decant.RoleAssistant, decant.Block{
			Kind: decant.KindUse, Name: []string{"Read", "Bash", "Grep"}[i%3], CallID: id,
			Content: decant.Text(calls[i%3]),
		})
		add(decant.RoleUser, decant.Block{Kind: decant.KindResult, CallID: id, Content: decant.Text(text)})
	}
	add(decant.RoleAssistant, decant.Block{Kind: decant.KindText, Content: decant.Text("Done.")})
	return c
}

// TestTimeGrowsWithSize guards against work that grows with the square of a session.
func TestTimeGrowsWithSize(t *testing.T) {
	steps := func(rounds int) int {
		c := session(rounds)
		for i := range c.Messages { // every read shows other lines of one file, the worst case for Superseded
			if b := &c.Messages[i].Blocks[0]; b.Kind == decant.KindUse {
				b.Name, b.Content = "Read", decant.Text(`{"file_path":"/r/a.go","offset":`+strings.Repeat("1", 1+i%9)+`,"limit":1}`)
			}
		}
		n := &countingCounter{}
		Stub(Of(context.Background(), c, Options{Counter: n}))
		Superseded(Of(context.Background(), c, Options{Counter: n}))
		return n.bytes
	}
	small, large := steps(100), steps(400)
	if large > 44*small/10 {
		t.Errorf("four times the input counts %.1f times the bytes, want at most 4.4", float64(large)/float64(small))
	}
}

// countingCounter counts the bytes that it was asked to count.
type countingCounter struct{ bytes int }

func (c *countingCounter) Count(text string) int {
	c.bytes += len(text)
	return len(text)
}

func bytesOf(c *decant.Conversation) (n int64) {
	for _, m := range c.Messages {
		n += int64(m.Blocks[0].Content.Size())
	}
	return n
}

func benchmark(b *testing.B, reduction func(*Subject) []decant.Decision) {
	c := session(240)
	b.SetBytes(bytesOf(c))
	b.ReportAllocs()
	for b.Loop() {
		if len(reduction(Of(context.Background(), c, Options{Counter: bytesCounter{}}))) == 0 {
			b.Fatal("no decisions")
		}
	}
}

func BenchmarkSuperseded(b *testing.B) { benchmark(b, Superseded) }
func BenchmarkDuplicate(b *testing.B)  { benchmark(b, Duplicate) }
func BenchmarkStub(b *testing.B)       { benchmark(b, Stub) }

func BenchmarkTrim(b *testing.B) {
	benchmark(b, func(s *Subject) []decant.Decision { return Trim(s, Trimming{Over: 2000, Head: 500, Tail: 500}) })
}

func BenchmarkTerminal(b *testing.B) {
	text := strings.Repeat("\x1b[32mok\x1b[0m  package/name\t0.12s\nDownloading 10%\rDownloading 100%\n", 500)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		clean(text)
	}
}
