package fact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // kind:text, "+" before an inner one
	}{
		{"Paths", "see cmd/app/main.go, ./x/y.ts and ~/notes/a.md", []string{"path:cmd/app/main.go", "+identifier:main.go", "path:./x/y.ts", "path:~/notes/a.md"}},
		{"FileName", "edit go.mod and user_store.go.", []string{"path:go.mod", "+identifier:go.mod", "path:user_store.go", "+identifier:user_store.go"}},
		{"URL", "at https://go.dev/doc/effective_go.", []string{"url:https://go.dev/doc/effective_go", "+identifier:go.dev", "+identifier:effective_go"}},
		{"Identifiers", "call parseRequest, ReadAll, max_tokens, HTTPServer, s.store.Head or MAX_SIZE", []string{"identifier:parseRequest", "identifier:ReadAll", "identifier:max_tokens", "identifier:HTTPServer", "identifier:s.store.Head", "identifier:MAX_SIZE"}},
		{"PlainWords", "This is a plain sentence. It ends here; nothing is a fact, e.g. in It's.", nil},
		{"Hashes", "commit 1a2b3c4 of 550e8400-e29b-41d4-a716-446655440000", []string{"hash:1a2b3c4", "hash:550e8400-e29b-41d4-a716-446655440000"}},
		{"Flags", "run --dry-run and --n -v", []string{"flag:--dry-run"}},
		{"Numbers", "v1.26.8, port 8080, issue #154 on 2026-11-20, but 42 is not", []string{"number:v1.26.8", "number:8080", "number:#154", "number:2026-11-20"}},
		{"Errors", "TypeError or ENOENT or E1234 or ERR_BAD_REQUEST", []string{"error:TypeError", "error:ENOENT", "error:E1234", "error:ERR_BAD_REQUEST"}},
		{"Booking", "reservation NO6JO3 on HAT136", []string{"identifier:NO6JO3", "identifier:HAT136"}},
		{"Chinese", "请修改 src/app.ts 里的 parseRequest。", []string{"path:src/app.ts", "+identifier:app.ts", "identifier:parseRequest"}},
		{"Base64", "data aGVsbG8gd29ybGQ/dGhpcyBpcyBhIHRlc3Q+b2YgYmFzZTY0IGVuY29kaW5n end", nil},
		{"LongPath", "in /Users/somebody/workspace/project/worktrees/internal/server/handlers", []string{"path:/Users/somebody/workspace/project/worktrees/internal/server/handlers"}},
		{"Empty", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range fact.Scan(nil, tt.in) {
				in := ""
				if s.Inner {
					in = "+"
				}
				got = append(got, in+string(s.Kind)+":"+tt.in[s.Start:s.End])
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	f.Add("cmd/app/main.go https://x.y/z #12 --flag v1.2 a-b_c.d")
	f.Add("://http://-/~@+.. 550e8400-e29b-41d4-a716-446655440000")
	f.Fuzz(func(t *testing.T, s string) {
		start, end := 0, 0
		for _, sp := range fact.Scan(nil, s) {
			if sp.Start < start || sp.End <= sp.Start || sp.End > len(s) || sp.Kind == "" {
				t.Fatalf("span %+v after start %d in %q", sp, start, s)
			}
			if sp.Inner && sp.End > end {
				t.Fatalf("inner span %+v reaches beyond %d in %q", sp, end, s)
			}
			start = sp.Start
			if !sp.Inner {
				end = sp.End
			}
		}
	})
}

// talk makes messages of texts; the prefix tells the author.
func talk(texts ...string) []decant.Message {
	var ms []decant.Message
	for i, s := range texts {
		who, text, _ := strings.Cut(s, ": ")
		m := decant.Message{Number: i + 1, Role: decant.RoleUser}
		b := decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(text)}
		switch who {
		case "model":
			m.Role, b.Author = decant.RoleAssistant, decant.AuthorModel
		case "call":
			m.Role, b.Author, b.Kind, b.Name = decant.RoleAssistant, decant.AuthorModel, decant.KindUse, "Edit"
		case "tool":
			b.Kind, b.Author = decant.KindResult, decant.AuthorTool
		}
		m.Blocks = []decant.Block{b}
		ms = append(ms, m)
	}
	return ms
}

func weight(facts []decant.Fact, text string) float64 {
	for _, f := range facts {
		if f.Text == text {
			return f.Weight
		}
	}
	return 0
}

func TestExtractWeighsWhatIsUsedAboveWhatWasShown(t *testing.T) {
	facts := fact.Extract(talk("user: Fix the parser.", "tool: type shownOnly struct", "call: {\"file_path\":\"a/b.go\",\"new_string\":\"usedName()\"}", "model: I changed usedName."))
	if used, shown := weight(facts, "usedName"), weight(facts, "shownOnly"); used <= shown {
		t.Errorf("got weight %.3f for a name in use and %.3f for one that was shown, want more for the first", used, shown)
	}
}

func TestExtractWeighsRecentAboveOld(t *testing.T) {
	texts := []string{"model: oldName is set"}
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("model: step %d", i))
	}
	facts := fact.Extract(talk(append(texts, "model: newName is set")...))
	if recent, old := weight(facts, "newName"), weight(facts, "oldName"); recent <= old {
		t.Errorf("got weight %.3f for a recent name and %.3f for an old one, want more for the first", recent, old)
	}
}

func TestExtractKeepsTaskInstructionsDecisionsAndOpenItems(t *testing.T) {
	facts := fact.Extract(talk("user: Build a parser for logs.", "model: The issue is the lexer.", "user: From now on never commit without tests.", "model: Still need to handle tabs."))
	got := map[string]decant.FactKind{}
	for _, f := range facts {
		got[f.Text] = f.Kind
	}
	want := map[string]decant.FactKind{
		"Build a parser for logs.":                decant.FactInstruction,
		"The issue is the lexer.":                 decant.FactDecision,
		"From now on never commit without tests.": decant.FactInstruction,
		"Still need to handle tabs.":              decant.FactOpen,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestSentence(t *testing.T) {
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"Don't push to main.", true},
		{"Fix it, but please don't touch the API.", true},
		{"I don't remember the reservation number.", false},
		{"We do not know why it fails.", false},
		{"Always answer in French.", true},
		{"以后必须先写测试", true},
		{"Fix the parser.", false},
	} {
		if _, got := fact.Sentence(decant.AuthorUser, tt.line); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.line, got, tt.want)
		}
	}
}

func TestMeetingsHoldNoInstructions(t *testing.T) {
	for _, f := range fact.Extract(talk("user: Ann: We must never forget the budget.", "user: Bob: Always.")) {
		t.Errorf("got %s %q", f.Kind, f.Text)
	}
}

func TestExtractNeverTakesSecrets(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2c3D4", 5)
	for _, f := range fact.Extract(talk("user: use "+key, "tool: token="+key, `call: {"command":"curl -H `+key+`"}`)) {
		if strings.Contains(f.Text, key) {
			t.Errorf("got the secret as %s %q", f.Kind, f.Text)
		}
	}
}

func TestCheck(t *testing.T) {
	facts := []decant.Fact{
		{Kind: decant.FactPath, Text: "a/b.go", Weight: 2},
		{Kind: decant.FactNumber, Text: "1234", Weight: 1},
		{Kind: decant.FactInstruction, Text: "Never commit without running the tests first.", Weight: 1},
	}
	for _, tt := range []struct {
		name, text string
		score      float64
	}{
		{"All", "/x/a/b.go, 1234\nuser: never commit without running the tests", 1},
		{"NumberInsideAnother", "a/b.go 51234", .5},
		{"InstructionScattered", "never\n\n\n\ncommit\n\n\n\nwithout\n\n\n\nrunning tests first", 0},
		{"Nothing", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fact.Check(facts, tt.text)
			if r.Score != tt.score || len(r.Kept)+len(r.Missing) != len(facts) {
				t.Errorf("got score %v, kept %v, missing %v, want %v", r.Score, r.Kept, r.Missing, tt.score)
			}
		})
	}
}

func TestCheckWithoutFactsIsWhole(t *testing.T) {
	if got := fact.Check(nil, "").Score; got != 1 {
		t.Errorf("got %v, want 1", got)
	}
}

func code() string {
	var b strings.Builder
	for i := b.Len(); b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "\tif err := s.store%d.Put(ctx, \"cmd/app/file_%d.go\", value); err != nil { // see issue #%d\n\t\treturn fmt.Errorf(\"put the value that was asked for: %%w\", err)\n", i%300, i%700, i%900)
	}
	return b.String()
}

func BenchmarkScan(b *testing.B) {
	text := code()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var spans []fact.Span
	for b.Loop() {
		spans = fact.Scan(spans[:0], text)
	}
}

func BenchmarkExtract(b *testing.B) {
	ms := talk("user: do it", "tool: "+code())
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		fact.Extract(ms)
	}
}

func BenchmarkCheck(b *testing.B) {
	text := code()
	facts := fact.Extract(talk("user: never do it twice", "tool: "+text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		fact.Check(facts, text)
	}
}
