package fact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // kind:text, "+" before an inner one
	}{
		{
			"Paths", "see cmd/app/main.go, ./x/y.ts and ~/notes/a.md",
			[]string{"path:cmd/app/main.go", "+identifier:main.go", "path:./x/y.ts", "path:~/notes/a.md"},
		},
		{
			"FileName", "edit go.mod and user_store.go.",
			[]string{"path:go.mod", "+identifier:go.mod", "path:user_store.go", "+identifier:user_store.go"},
		},
		{
			"URL", "at https://go.dev/doc/effective_go.",
			[]string{"url:https://go.dev/doc/effective_go", "+identifier:go.dev", "+identifier:effective_go"},
		},
		{
			"Identifiers", "call parseRequest, ReadAll, max_tokens, HTTPServer, s.store.Head or MAX_SIZE",
			[]string{
				"identifier:parseRequest", "identifier:ReadAll", "identifier:max_tokens",
				"identifier:HTTPServer", "identifier:s.store.Head", "identifier:MAX_SIZE",
			},
		},
		{"PlainWords", "This is a plain sentence. It ends here; nothing is a fact, e.g. in It's.", nil},
		{
			"Hashes", "commit 1a2b3c4 of 550e8400-e29b-41d4-a716-446655440000",
			[]string{"hash:1a2b3c4", "hash:550e8400-e29b-41d4-a716-446655440000"},
		},
		{"Flags", "run --dry-run and --n -v", []string{"flag:--dry-run"}},
		{
			"Numbers", "v1.26.8, port 8080, issue #154 on 2026-11-20, but 42 is not",
			[]string{"number:v1.26.8", "number:8080", "number:#154", "number:2026-11-20"},
		},
		{
			"Errors", "TypeError or ENOENT or E1234 or ERR_BAD_REQUEST",
			[]string{"error:TypeError", "error:ENOENT", "error:E1234", "error:ERR_BAD_REQUEST"},
		},
		{"Booking", "reservation NO6JO3 on HAT136", []string{"identifier:NO6JO3", "identifier:HAT136"}},
		{
			"Chinese", "请修改 src/app.ts 里的 parseRequest。",
			[]string{"path:src/app.ts", "+identifier:app.ts", "identifier:parseRequest"},
		},
		{"Base64", "data aGVsbG8gd29ybGQ/dGhpcyBpcyBhIHRlc3Q+b2YgYmFzZTY0IGVuY29kaW5n end", nil},
		{"LongPath", "in /Users/somebody/workspace/project/worktrees/internal/server/handlers", []string{"path:/Users/somebody/workspace/project/worktrees/internal/server/handlers"}},
		{"Tickets", "bd show name-word.3 and gpt-5.5, but well-known", []string{"identifier:name-word.3", "identifier:gpt-5.5"}}, // the id was cut at its hyphen
		{"Tags", "<system-reminder>mind</system-reminder> <SelectItem/> </a:b> </not/closed> <a </etc/passwd", []string{"identifier:SelectItem", "path:/not/closed", "path:/etc/passwd"}},
		{"Elements", "</system-reminder> <Card></Card>, see /etc/passwd", []string{"path:/etc/passwd"}},
		{"Escapes", `"\u003csu\nCopilot %3Atrue and %22parseRequest%22"`, []string{"identifier:parseRequest"}},
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
	facts := fact.Extract(context.Background(),
		talk("user: Fix the parser.", "tool: type shownOnly struct", "call: {\"file_path\":\"a/b.go\",\"new_string\":\"usedName()\"}", "model: I changed usedName."))
	if used, shown := weight(facts, "usedName"), weight(facts, "shownOnly"); used <= shown {
		t.Errorf("got weight %.3f for a name in use and %.3f for one that was shown, want more for the first", used, shown)
	}
}

func TestExtractWeighsRecentAboveOld(t *testing.T) {
	texts := []string{"model: oldName is set"}
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("model: step %d", i))
	}
	facts := fact.Extract(context.Background(), talk(append(texts, "model: newName is set")...))
	if recent, old := weight(facts, "newName"), weight(facts, "oldName"); recent <= old {
		t.Errorf("got weight %.3f for a recent name and %.3f for an old one, want more for the first", recent, old)
	}
}

func TestExtractKeepsTaskInstructionsDecisionsAndOpenItems(t *testing.T) {
	facts := fact.Extract(context.Background(),
		talk("user: Build a parser for logs.", "model: The issue is the lexer.", "model: I decided to keep the old lexer.", "user: From now on never commit without tests.", "model: Still need to handle tabs."))
	got := map[string]decant.FactKind{}
	for _, f := range facts {
		got[f.Text] = f.Kind
	}
	want := map[string]decant.FactKind{
		"Build a parser for logs.":                decant.FactInstruction,
		"I decided to keep the old lexer.":        decant.FactDecision,
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

// The rules that people write down in long texts, where only what is one is sure to stay.
func TestRule(t *testing.T) {
	for line := range strings.Lines(`Tabs, not spaces, in every Go file.
Hands off the vendor folder!
- No emojis in commit messages.
* No force pushes to main, ever.
3. Use pnpm, not npm.
Use uv for Python packages.
All new code goes into pkg/core.
Tests go next to the code they test.
Every public function needs a doc comment.
Commit messages are in English.
Each branch name starts with feat/ or fix/.
Run make lint before each commit.
Write tests first.
Don’t log customer names.
Leave the config alone.
Keep your hands off db/schema.rb.
The API must stay backwards compatible.
We deploy only on Tuesdays.
Only Anna may approve schema changes.
Nothing gets merged without review.
Everything in docs/ is generated: edit the templates.
Let's use Postgres and not MySQL.
Timeouts are 30 seconds, nowhere more, at most.
Log levels: debug in dev, info in prod.
You can skip the e2e tests.
Nutze immer Tabs.
Bitte keine neuen Abhängigkeiten.
Verwende pnpm statt npm.
Commits bitte auf Deutsch.
Fass die Datei config.yml nicht an.
Alle Texte auf Englisch!
所有提交信息都用英文。
请一律使用 pnpm。
代码注释用中文写。
先跑测试再提交。
千万别动数据库。
从今往后都用 Python 3.12。
提交前请运行 lint。
Ne touche pas au dossier legacy.
No toques la carpeta legacy.
mainにpushしないこと。
Stay out of internal/auth.
Skip the changelog.
Format with gofumpt, please.
Use British spelling.
Prefix every log line with the request id.
Cap retries at three.
Function names in snake_case.
Max line length 100.
`) {
		if !fact.Rule(strings.TrimSuffix(line, "\n")) {
			t.Errorf("%q is a rule", line)
		}
	}
	for line := range strings.Lines(`Fix the parser.
Run completed in 3 seconds.
No such file or directory
No matches found
no problem, thanks
Use of undeclared identifier
Where is the config?
I looked at the file that you sent.
The tests pass on my machine.
What does the importer do with dates?
Add a button to the page.
Here is the log of the server.
continue
Everything was great, and everyone loved the food.
No rush, I live in a small town by the sea.
I feel alone at times.
All tests pass now.
`) {
		if fact.Rule(strings.TrimSuffix(line, "\n")) {
			t.Errorf("%q is no rule", line)
		}
	}
}

// A rule about Zeta100 passed for kept because a line about Zeta150 has most of its words.
func TestASentenceIsKeptWithItsNamesAndNegations(t *testing.T) {
	for _, tt := range []struct {
		sentence, text string
		kept           bool
	}{
		{"never contact company Zeta100", "- never contact company Zeta150 again", false},
		{"never contact company Zeta100", "- Never contact company Zeta100, the user said.", true},
		{"never contact company Zeta100", "- contact company Zeta100 tomorrow, company policy", false},
		{"Deploy to staging before every release of Atlas", "deploy to staging before every release of Borealis", false},
		{"use at most 3 retries for calls of the upstream", "use at most 5 retries for calls of the upstream", false},
		{"do not reformat files in vendor/legacy", "do not reformat files in vendor/new", false},
		{"绝对不要修改 zone_12 的配置文件", "绝对不要修改 zone_13 的配置文件", false},
	} {
		r := fact.Check(context.Background(), []decant.Fact{{Kind: decant.FactInstruction, Text: tt.sentence, Weight: 1}}, "the record\n"+tt.text+"\nand more")
		if kept := len(r.Kept) == 1; kept != tt.kept {
			t.Errorf("%q in %q: kept %v, want %v", tt.sentence, tt.text, kept, tt.kept)
		}
	}
}

func TestMeetingsHoldNoInstructions(t *testing.T) {
	for _, f := range fact.Extract(context.Background(),
		talk("user: Ann: We must never forget the budget.", "user: Bob: Always.")) {
		t.Errorf("got %s %q", f.Kind, f.Text)
	}
}

func TestExtractNeverTakesSecrets(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2c3D4", 5)
	for _, f := range fact.Extract(context.Background(), talk("user: use "+key, "tool: token="+key, `call: {"command":"curl -H `+key+`"}`)) {
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
			r := fact.Check(context.Background(), facts, tt.text)
			if r.Score != tt.score || len(r.Kept)+len(r.Missing) != len(facts) {
				t.Errorf("got score %v, kept %v, missing %v, want %v", r.Score, r.Kept, r.Missing, tt.score)
			}
		})
	}
}

// A rule about one name, number or order was kept by a line about another that has most of its words.
func TestCheckWantsNamesNumbersAndNegationsOfASentence(t *testing.T) {
	for _, tt := range []struct{ rule, text string }{
		{"Never contact company Zeta100 about the invoice", "Never contact company Zeta150 about the invoice"},
		{"Keep the report under 300 words in all cases", "Keep the report under 500 words in all cases"},
		{"Do not push to the main branch without review", "Do push to the main branch without review"},
	} {
		facts := []decant.Fact{{Kind: decant.FactInstruction, Text: tt.rule, Weight: 1}}
		if got := fact.Check(context.Background(), facts, "m4 "+tt.text+"."); len(got.Missing) != 1 {
			t.Errorf("%q is taken for %q", tt.text, tt.rule)
		}
		if got := fact.Check(context.Background(), facts, "m4 "+tt.rule+", as we said."); len(got.Kept) != 1 {
			t.Errorf("%q is not found", tt.rule)
		}
	}
}

func TestCheckWithoutFactsIsWhole(t *testing.T) {
	if got := fact.Check(context.Background(), nil, "").Score; got != 1 {
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
		fact.Extract(context.Background(), ms)
	}
}

func BenchmarkCheck(b *testing.B) {
	text := code()
	facts := fact.Extract(context.Background(), talk("user: never do it twice", "tool: "+text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		fact.Check(context.Background(), facts, text)
	}
}

// In a chat, what only sounds like a rule took the room of what was said.
func TestOrderIsARuleThatIsAddressedToTheReader(t *testing.T) {
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"From now on call me Captain.", true},
		{"Actually, I want tabs.", true},
		{"I went out. Never mention Paris again.", true},
		{"Please always answer in French.", true},
		{"You must not tell anybody.", true},
		{"以后请叫我船长。", true},
		{"不要再提巴黎。", true},
		{"I always feel nervous.", false},
		{"Novels always give me a lot of inspiration.", false},
		{"I want to travel, but I never have the time.", false},
		{"No problem, feel free to ask me anything.", false},
		{"If you like, you can go there.", false},
		{"Well, it should be fine.", false},
		{"和你聊天总是让我收获很多。", false},
		{"嗯，我以后会去的。", false},
		{"谢谢，一定要保重。", false},
	} {
		if got := fact.Order(tt.line); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.line, got, tt.want)
		}
		if tt.want && !fact.Rule(tt.line) {
			t.Errorf("%q is an order and no rule", tt.line)
		}
	}
}
