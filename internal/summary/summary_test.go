package summary_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
	"pgregory.net/rapid"
)

// extract returns the summary of a conversation within budget.
func extract(t *testing.T, ms []decant.Message, budget int) string {
	t.Helper()
	s, err := summary.Extract(context.Background(), ms, summary.Options{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return s.Text
}

// work is a conversation of n steps after the given start: a file is read, changed and tested.
func work(t *testing.T, start string, n int) []decant.Message {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.TrimSpace(start) + "\n")
	for i := range n {
		m := 10 + 6*i
		fmt.Fprintf(&b, "-- m%d model --\nNow the handler of route %d: it has to validate what it is given.\n", m, i)
		fmt.Fprintf(&b, "-- m%d call r%d Read --\n{\"file_path\":\"/src/app/route_%d.go\"}\n", m, i, i)
		fmt.Fprintf(&b, "-- m%d result r%d --\n     1→package app\n     2→\n     3→// handleRoute%d answers requests for the route.\n     4→func handleRoute%d(w http.ResponseWriter, r *http.Request) {\n     5→\tif err := validateInput%d(r); err != nil {\n", m+1, i, i, i, i)
		fmt.Fprintf(&b, "-- m%d call e%d Edit --\n{\"file_path\":\"/src/app/route_%d.go\",\"old_string\":\"validateInput%d(r)\",\"new_string\":\"checkRequest%d(r, limits)\"}\n", m+2, i, i, i, i)
		fmt.Fprintf(&b, "-- m%d result e%d --\nThe file /src/app/route_%d.go has been updated.\n", m+3, i, i)
		fmt.Fprintf(&b, "-- m%d call t%d Bash --\n{\"command\":\"go test ./app -run TestRoute%d\"}\n-- m%d result t%d --\nok  \tapp\t0.1%ds\n", m+4, i, i, m+5, i, i%10)
	}
	return talk(t, b.String())
}

const standing = "Never push to main and always write the tests first."

func TestSummaryKeepsStandingInstructions(t *testing.T) {
	ms := work(t, "-- m1 user --\nBuild the routes of the app.\n-- m3 user --\n"+standing+"\n", 60)
	for _, budget := range []int{300, 1000, 4000} {
		text := extract(t, ms, budget)
		for _, want := range []string{"Build the routes of the app.", standing} {
			if !strings.Contains(text, want) {
				t.Errorf("with %d tokens: %q is missing in\n%s", budget, want, text)
			}
		}
	}
}

func TestSummaryLanguageFollowsUser(t *testing.T) {
	chinese := talk(t, `
-- m1 user --
请帮我修改登录页面，以后必须先写测试再提交代码。
-- m2 model --
好的，我先看一下登录页面的代码。问题是表单没有检查输入。
-- m2 call a Read --
{"file_path":"/src/login.ts"}
-- m3 result a --
export function checkForm(input: string) { return input.length > 0 }
-- m4 model --
我决定改用统一的校验函数 validateForm，接下来还需要处理错误提示。
-- m5 user --
可以，继续吧。错误提示请使用中文。
`)
	text := extract(t, chinese, 120)
	for _, want := range []string{"并非用户的话", "# 用户", "以后必须先写测试再提交代码"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, said := range []string{
		"Build the routes of the application and validate their input first.",
		"新規登録画面の入力確認処理を修正してください。本番環境の設定変更は絶対に禁止です。",
		"로그인 화면을 修正해 주세요. 設定은 바꾸지 마세요.",
	} {
		ms := talk(t, "-- m1 user --\n"+said+"\n-- m2 model --\n"+strings.Repeat(said+"\n", 20)+"-- m3 user --\n"+said+"\n")
		if text := extract(t, ms, 120); !strings.Contains(text, "# User") ||
			!strings.Contains(text, ", not the user's words") {
			t.Errorf("%s: no English heading in\n%s", said, text)
		}
	}
}

func TestSummaryIsMarkedAsARecordAndNotTheUsersWords(t *testing.T) {
	text := extract(t, work(t, "-- m1 user --\nBuild the routes.\n", 5), 300)
	if first, _, _ := strings.Cut(text, "\n"); first != "[Decant record of m1-m39, not the user's words]" {
		t.Errorf("got the first line %q", first)
	}
}

// again compacts ms over and over, each time with the last summary in front of the next messages.
func again(t *testing.T, ms []decant.Message, times, budget int) []string {
	t.Helper()
	var out []string
	per := (len(ms) - 1) / times
	at := 0
	for i := range times {
		next := ms[at:min(at+per, len(ms))]
		if i > 0 {
			earlier := decant.Message{
				Role:   decant.RoleUser,
				Blocks: []decant.Block{{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text(out[i-1])}},
			}
			next = append([]decant.Message{earlier}, next...)
		}
		at += per
		out = append(out, extract(t, next, budget))
	}
	return out
}

func TestSecondCompactionDoesNotStack(t *testing.T) {
	ms := work(t, "-- m1 user --\nBuild the routes of the app.\n"+standing+"\n", 180)
	const budget = 500
	texts := again(t, ms, 60, budget)
	for _, n := range []int{2, 6, 60} {
		text := texts[n-1]
		if size := len(text); size > 5*budget {
			t.Errorf("compaction %d has %d bytes", n, size)
		}
		if c := strings.Count(text, "[Decant record of"); c != 1 {
			t.Errorf("compaction %d has %d marks, want 1\n%s", n, c, text)
		}
		for _, want := range []string{"[Decant record of m1-", "m1 Build the routes of the app.", standing} {
			if !strings.Contains(text, want) {
				t.Errorf("compaction %d: %q is missing in\n%s", n, want, text)
			}
		}
	}
}

func TestFoldKeepsFilesAndTheirState(t *testing.T) {
	ms := work(t, "-- m1 user --\nBuild the routes of the app.\n", 4)
	first := extract(t, ms, 400)
	if !strings.Contains(first, "/src/app/route_3.go: changed m30") {
		t.Fatalf("no state of the file in\n%s", first)
	}
	rest := talk(t, "-- m50 decant --\n"+first+"\n-- m51 user --\nNow the documentation.\n-- m52 model --\nI will write it in docs/routes.md and describe every route of the app there, one after the other, in detail.\n"+strings.Repeat("It is a long text about the routes and what they do. ", 40)+"\n")
	if second := extract(t, rest, 400); !strings.Contains(second, "/src/app/route_3.go: changed m30") {
		t.Errorf("the state of the file is lost in\n%s", second)
	}
}

func TestFoldOfARepairedSummaryBetweenMarkers(t *testing.T) {
	earlier := repaired(t, extract(t, work(t, "-- m1 user --\nBuild the routes of the app.\n", 12), 300), []decant.Fact{
		{Kind: decant.FactInstruction, Text: "Never use global state."},
		{Kind: decant.FactIdentifier, Text: "resolveTranscript"},
	}, summary.Limits{})
	ms := append(talk(t, "-- m70 decant --\n[PREVIOUS SUMMARY]\n"+earlier+"\n[END OF SUMMARY]\n"),
		work(t, "-- m81 user --\nNow the documentation.\n", 9)...)
	text := extract(t, ms, 400)
	_, rules, _ := strings.Cut(text, "# Rules\n")
	rules, _, _ = strings.Cut(rules, "\n# ")
	if !strings.Contains(rules, "Never use global state.") {
		t.Errorf("the repaired instruction is not among the user's rules in\n%s", text)
	}
	if strings.Contains(text, "SUMMARY]") || strings.Contains(text, "Also said") {
		t.Errorf("markers are kept in\n%s", text)
	}
}

func TestFoldOfAClientSummaryLeavesItsAsidesOut(t *testing.T) {
	ms := work(t, `
-- m1 user --
This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.

1. Primary Request: the user wants rate limits in limiter.go.
Please continue the conversation from where we left it off without asking the user any further questions.
`, 3)
	text := extract(t, ms, 500)
	if !strings.Contains(text, "rate limits in limiter.go") {
		t.Errorf("the request is missing in\n%s", text)
	}
	for _, aside := range []string{"being continued", "Please continue"} {
		if strings.Contains(text, aside) {
			t.Errorf("%q is kept in\n%s", aside, text)
		}
	}
	if _, user, ok := strings.Cut(text, "# User"); ok &&
		strings.Contains(user[:strings.Index(user+"#", "#")], "rate limits") {
		t.Errorf("the client's summary passes for the user's words in\n%s", text)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2c3D4", 5)
	text := extract(t, talk(t, "-- m1 user --\nUse "+key+" to push. Always ask before you do.\n-- m2 call a Bash --\n{\"command\":\"git push https://"+key+"@github.com/x/y\"}\n-- m3 result a --\npushed with "+key+" and a long explanation of what happened on the way\n-- m4 model --\nIt is pushed now, as you wanted it to be, and the branch is up to date again.\n"), 90)
	if strings.Contains(text, key) || !strings.Contains(text, "[redacted github-token]") {
		t.Errorf("got\n%s", text)
	}
}

func TestErrorIsUnresolvedUntilTheCommandSucceeds(t *testing.T) {
	const failed = "-- m1 user --\nMake the tests pass.\n-- m2 call a Bash --\n{\"command\":\"go test ./pkg\"}\n-- m3 result a error --\nExit code 1\n--- FAIL: TestParse (0.00s)\n    parse_test.go:12: got 3, want 4\nFAIL\n"
	filler := "-- m4 model --\n" + strings.Repeat("The parser has to look one token further ahead before it decides. ", 12) + "\n"
	text := extract(t, talk(t, failed+filler), 160)
	for _, want := range []string{"# State\nm2 $ go test ./pkg → 1 failed: TestParse\n",
		"--- FAIL: TestParse (0.00s)", "parse_test.go:12: got 3, want 4"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	fixed := failed + filler + "-- m5 call b Bash --\n{\"command\":\"go test ./pkg\"}\n-- m6 result b --\nok  \tpkg\t0.1s\n"
	if text := extract(t, talk(t, fixed), 160); !strings.Contains(text, "m5 $ go test ./pkg → ok") ||
		strings.Contains(text, "m2 $ go test ./pkg → ") && strings.Contains(text, "# State\nm2") {
		t.Errorf("the error is still the state in\n%s", text)
	}
}

func TestNewestPlanReplacesTheOneBefore(t *testing.T) {
	ms := talk(t, `
-- m1 user --
Move the store to another table.
-- m2 call a TodoWrite --
{"todos":[{"content":"Write the migration","status":"in_progress"},{"content":"Run the migration","status":"pending"}]}
-- m3 result a --
Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.
-- m4 call b TodoWrite --
{"todos":[{"content":"Write the migration","status":"completed"},{"content":"Run the migration","status":"in_progress"},{"content":"Drop the old table","status":"pending"}]}
-- m5 result b --
Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.
`)
	want := "# Plan\nm4 1 of 3 done; left:\n- [in_progress] Run the migration\n- [pending] Drop the old table\n"
	if text := extract(t, ms, 110); !strings.Contains(text, want) || strings.Contains(text, "Write the migration") {
		t.Errorf("want %q alone in\n%s", want, text)
	}
}

// Plans made of TaskCreate and TaskUpdate were never read.
func TestPlanOfSingleTasks(t *testing.T) {
	ms := talk(t, `
-- m1 user --
Add support for the other editor, and write its tests, before the end of the week if you can.
-- m2 call a TaskCreate --
{"subject":"Add the types","description":"Add all of the types that the editor needs","activeForm":"Adding"}
-- m3 result a --
Task #7 created successfully: Add the types
-- m4 call b TaskCreate --
{"subject":"Find the files","description":"x","activeForm":"Finding"}
-- m5 result b --
Task #8 created successfully: Find the files
-- m6 call c TaskUpdate --
{"taskId":"7","status":"completed"}
-- m7 result c --
Updated task #7 status
-- m8 call d TaskUpdate --
{"taskId":"8","status":"in_progress"}
-- m9 result d --
Updated task #8 status
`)
	if text, want := extract(t, ms, 120), "# Plan\nm8 1 of 2 done; left:\n- #8 [in_progress] Find the files\n"; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
}

func TestLineNumbersOfFileReadsAreTakenOff(t *testing.T) {
	text := extract(t, work(t, "-- m1 user --\nBuild the routes.\n", 3), 500)
	if !strings.Contains(text, "func handleRoute2(w http.ResponseWriter") || regexp.MustCompile(`\d→`).MatchString(text) {
		t.Errorf("got\n%s", text)
	}
}

func TestOneGiantLine(t *testing.T) {
	giant := strings.Repeat("x", 300_000) + " resolveTranscript " + strings.Repeat("0123456789abcdef", 20_000)
	text := extract(t, talk(t, "-- m1 user --\nLook at the file.\n-- m2 call a Read --\n{\"file_path\":\"/a/b.js\"}\n-- m3 result a --\n"+giant+"\n"), 300)
	if !strings.Contains(text, "/a/b.js") {
		t.Errorf("got\n%s", text)
	}
}

func TestNothingToSummarise(t *testing.T) {
	for name, ms := range map[string][]decant.Message{
		"NoMessages": nil,
		"EmptyText":  talk(t, "-- m1 user --\n\n"),
		"Image":      {{Number: 1, Role: decant.RoleUser, Blocks: []decant.Block{{Kind: decant.KindImage}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := summary.Extract(context.Background(), ms, summary.Options{Budget: 100}); !errors.Is(err,
				decant.ErrNothing) {
				t.Errorf("got %v, want ErrNothing", err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		budget     int
	}{
		{"BudgetTooSmall", "-- m1 user --\nBuild the routes of the app, all of them, and test them well.\n", 3},
		{"NotSmallerThanItsSource", "-- m1 user --\nHi there.\n", 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if s, err := summary.Extract(context.Background(), talk(t, tt.text),
				summary.Options{Budget: tt.budget}); !errors.Is(err, decant.ErrSummary) {
				t.Errorf("got %v and %q, want ErrSummary", err, s.Text)
			}
		})
	}
}

// bytesOver3 is a counter with other tokens than the package's own estimate.
type bytesOver3 struct{}

func (bytesOver3) Count(text string) int { return (len(text) + 2) / 3 }

func TestBudgetIsNeverExceeded(t *testing.T) {
	words := []string{
		"parse", "the", "request", "handleRoute", "cmd/app/main.go", "--dry-run", "请修改", "#123", "\n",
		"{\"a\": \"b\"}", "TypeError", "always", "🙂", "\\", "; ", "# User", "m3 ", "\n  ", "# Quotes\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		var ms []decant.Message
		for i := range rapid.IntRange(1, 12).Draw(t, "messages") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 60).Draw(t, "text"),
				rapid.SampledFrom([]string{" ", "", "\n"}).Draw(t, "between"))
			b := decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(text)}
			switch rapid.IntRange(0, 3).Draw(t, "sort") {
			case 1:
				b.Author = decant.AuthorModel
			case 2:
				b.Author, b.Kind, b.Name, b.CallID = decant.AuthorModel, decant.KindUse, "Bash", "a"
			case 3:
				b.Author, b.Kind, b.CallID = decant.AuthorTool, decant.KindResult, "a"
			}
			ms = append(ms, decant.Message{Number: i + 1, Blocks: []decant.Block{b}})
		}
		o := summary.Options{Budget: rapid.IntRange(1, 400).Draw(t, "budget"), Counter: bytesOver3{}}
		s, err := summary.Extract(context.Background(), ms, o)
		if err != nil && !errors.Is(err, decant.ErrSummary) && !errors.Is(err, decant.ErrNothing) {
			t.Fatal(err)
		}
		if n := o.Counter.Count(s.Text); n > o.Budget {
			t.Fatalf("%d tokens, the budget is %d:\n%s", n, o.Budget, s.Text)
		}
		if again, _ := summary.Extract(context.Background(), ms, o); again.Text != s.Text {
			t.Fatalf("two summaries of the same messages:\n%s\n%s", s.Text, again.Text)
		}
	})
}

func FuzzExtract(f *testing.F) {
	f.Add("hello parseRequest", `{"command":"go test"}`, "--- FAIL: TestX", uint16(50))
	f.Add("[Decant record of m1-m3, not the user's words]\n# Files\na/b.go: changed m3\n# Plan\nm3 2 of 3 done; left:\n- #1 [x] y", `{`, `[{"a":1}]`, uint16(20))
	f.Fuzz(func(t *testing.T, said, args, result string, budget uint16) {
		ms := []decant.Message{
			{
				Number: 1, Role: decant.RoleUser,
				Blocks: []decant.Block{{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(said)}},
			},
			{
				Number: 2, Role: decant.RoleAssistant,
				Blocks: []decant.Block{{Kind: decant.KindUse, Author: decant.AuthorModel, CallID: "a", Name: "Bash", Content: decant.Text(args)}},
			},
			{
				Number: 3, Role: decant.RoleUser,
				Blocks: []decant.Block{{Kind: decant.KindResult, Author: decant.AuthorTool, CallID: "a", Content: decant.Text(result)}},
			},
		}
		o := summary.Options{Budget: int(budget), Counter: bytesOver3{}}
		s, _ := summary.Extract(context.Background(), ms, o)
		if n := o.Counter.Count(s.Text); n > int(budget) {
			t.Fatalf("%d tokens, the budget is %d", n, budget)
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	for _, steps := range []int{400, 1600} {
		t := &testing.T{}
		ms := work(t, "-- m1 user --\nBuild the routes.\n", steps)
		size := 0
		for i := range ms {
			size += len(ms[i].Text())
		}
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := summary.Extract(context.Background(), ms, summary.Options{Budget: size / 40}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestTextOfTheClientIsNotTheUsersWords(t *testing.T) {
	ms := work(t, "-- m1 client --\nAlways answer in capital letters, says resolveReminder.\n-- m2 user --\nBuild the routes.\n", 3)
	text := extract(t, ms, 600)
	_, user, _ := strings.Cut(text, "# User\n")
	user, _, _ = strings.Cut(user, "\n# ")
	if strings.Contains(user, "capital letters") || !strings.Contains(user, "Build the routes.") {
		t.Errorf("got as the user's words\n%s", user)
	}
}
