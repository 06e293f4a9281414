package summarize

import (
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// worked is a conversation in which tests fail, are mended and pass, a push is refused, and a migration goes wrong.
func worked() []decant.Message {
	var ms []decant.Message
	add := func(role decant.Role, blocks ...decant.Block) {
		ms = append(ms, decant.Message{Number: len(ms) + 1, Role: role, Blocks: blocks})
	}
	say := func(role decant.Role, author decant.Author, text string) {
		add(role, decant.Block{Kind: decant.KindText, Author: author, Content: decant.Text(text)})
	}
	run := func(id, command, result string, bad bool) {
		add(decant.RoleAssistant, decant.Block{Kind: decant.KindUse, CallID: id, Name: "Bash", Content: decant.Text(`{"command":"` + command + `"}`)})
		add(decant.RoleUser, decant.Block{Kind: decant.KindResult, CallID: id, Name: "Bash", Content: decant.Text(result), Error: bad})
	}
	say(decant.RoleUser, decant.AuthorUser, "The quarterly invoices round cents wrongly. Mend the rounding in billing/round.py and release it.")                                                 // 1
	run("a", "pytest billing/tests -q", "FAILED billing/tests/test_round.py::test_half - AssertionError: 1.01 != 1.02\n2 failed, 11 passed in 0.31s", true)                                      // 2, 3
	say(decant.RoleAssistant, decant.AuthorModel, "Banker's rounding is the cause: half a cent goes to the even neighbour. I tried quantize with a wider context first, which changes nothing.") // 4
	run("b", "pytest billing/tests -q", "13 passed in 0.29s", false)                                                                                                                             // 5, 6
	run("c", "git push origin main", "! [rejected] main -> main (fetch first)\nerror: failed to push some refs", true)                                                                           // 7, 8
	run("d", "npm run build", "> build\n> vite build\nexit code: 0\nThe warehouse dashboard bundle is larger than the recommended limit of five hundred kilobytes today", false)                 // 9, 10
	run("e", "git push origin main", "main -> main", false)                                                                                                                                      // 11, 12
	return ms
}

// looker returns a checker of a record of messages that wishes were told for.
func looker(ms []decant.Message, wishes string) *checker {
	es := entries(ms, preset.Summary{})
	var all strings.Builder
	for i := range es {
		all.WriteString(es[i].text())
	}
	b := &brief{from: 1, to: len(ms), room: 2000, headings: headings(""), mark: "0123abcd", wishes: wishes, tongue: "English"}
	return &checker{brief: b, counter: token.For(token.Model{ID: "x"}), known: newKnown(all.String(), es, resultsOf(ms)...)}
}

// What a model writes must be so: its outcomes are those of the results, its counts were counted, what it calls open is open,
// and it says what was found rather than what was returned or asked of it.
func TestALineThatIsNotSo(t *testing.T) {
	const wishes = "Keep every agreed price.\nKey data points, file paths, and identifiers that may be needed later\n## Progress so far"
	c := looker(worked(), wishes)
	const goal, said, open = 0, 3, 5
	for _, x := range []struct {
		section int
		line    string
		why     string // part of what the model is told, empty: the line is so
	}{
		{said, "m3 The tests of billing pass.", "The result in m3 says otherwise"},
		{said, "m2 The run of pytest was successful.", "The result in m3 says otherwise"},
		{said, "m3 The rounding test fails with 1.01 for 1.02.", ""},
		{said, "m6 The tests still fail.", "The result in m6 says otherwise"},
		{said, "m6 The tests pass.", ""},
		{said, "m3 The tests fail, and they pass since m6.", ""},
		{said, "m3 The tests should pass before the release.", ""},
		{said, "m6 13 passed.", ""},
		{said, "m6 13 tests passed after 2 failed.", ""},
		{said, "m6 17 tests passed.", "No result counts 17 tests passed"},
		{said, "m4 Half a cent goes to the even neighbour, which is the cause.", ""},
		{open, "m8 git push is refused and has to be repeated.", "m12 has settled this"},
		{said, "m8 git push was refused at first.", ""},
		{open, "m12 Announce the release to the customers.", ""},
		{goal, "m1 Key data points, file paths, and identifiers that may be needed later", "This repeats your instructions"},
		{goal, "Progress so far", "This repeats your instructions"},
		{goal, "m2 decisions and agreements, each with its reason", "This repeats your instructions"},
		{goal, "m1 The user wants the rounding of invoices mended and released.", ""},
		{said, "m10 The warehouse dashboard bundle is larger than the recommended limit of five hundred kilobytes today", "This is raw output"},
		{said, "m10 The build works, but warns that the dashboard bundle is too large.", ""},
	} {
		if got := c.untrue(x.section, x.line); x.why == "" && got != "" || !strings.Contains(got, x.why) {
			t.Errorf("%s: %q, want %q", x.line, got, x.why)
		}
	}
}

// A line has the number of the message that says it, whatever number the model wrote; one that nothing supports goes.
func TestALineHasTheNumberOfItsMessage(t *testing.T) {
	k := looker(worked(), "").known
	for _, x := range []struct {
		line, want string
		ok         bool
	}{
		{"m4 Banker's rounding sends half a cent to the even neighbour.", "m4 Banker's rounding sends half a cent to the even neighbour.", true},
		{"m9 Banker's rounding sends half a cent to the even neighbour.", "m4 Banker's rounding sends half a cent to the even neighbour.", true},
		{"m9 It builds, and the dashboard bundle is large.", "m9 It builds, and the dashboard bundle is large.", true}, // its result says so
		{"m11 Invoices, warehouse and neighbour were all told about quantize.", "", false},
		{"m1 Alles ist fertig und wird morgen ausgeliefert.", "m1 Alles ist fertig und wird morgen ausgeliefert.", true}, // that cannot be told
	} {
		got, ok := k.supported(x.line, 1, 12)
		if ok != x.ok || ok && got != x.want {
			t.Errorf("%q becomes %q, %v", x.line, got, ok)
		}
	}
	chinese := looker([]decant.Message{
		{Number: 1, Role: decant.RoleUser, Blocks: []decant.Block{{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("请把发票的四舍五入改正，然后发布。")}}},
		{Number: 2, Role: decant.RoleAssistant, Blocks: []decant.Block{{Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text("原因是银行家舍入：半分钱归到偶数。")}}},
	}, "").known
	if got, ok := chinese.supported("m1 原因是银行家舍入。", 1, 2); !ok || got != "m2 原因是银行家舍入。" {
		t.Errorf("%q, %v", got, ok)
	}
}

// What is not so is taken out and named to the model; where that is most of an answer, it is none.
func TestAnAnswerIsLookedAtLineByLine(t *testing.T) {
	c := looker(worked(), "Key data points, file paths, and identifiers that may be needed later")
	look := func(text string) finding {
		return c.look(t.Context(), &provider.Answer{Text: text, Stop: "end_turn"})
	}
	f := look(`# Goal
m1 The rounding of invoices is to be mended and released.
# Plan
Key data points, file paths, and identifiers that may be needed later
# State
m6 All tests of billing pass.
# Conclusions
m4 Banker's rounding is the cause: half a cent goes to the even neighbour.
m4 A wider context of quantize was tried and changes nothing.
# Decisions
-
# Open
m8 git push is refused and has to be repeated.
m12 The release has to be announced.`)
	if f.bad != "" || strings.Contains(f.text, "Key data") || strings.Contains(f.text, "git push") || !strings.Contains(f.text, "m6 All tests") || !strings.Contains(f.text, "m4 A wider context") {
		t.Errorf("bad %q, record\n%s", f.bad, f.text)
	}
	if wrong := strings.Join(f.wrong, "\n"); !strings.Contains(wrong, "This repeats your instructions: Key data") || !strings.Contains(wrong, "m12 has settled this") {
		t.Errorf("it is told %q", wrong)
	}
	f = look("# Goal\nm1 the steps of the plan that are left, in their order\n# Plan\nKey data points, file paths, and identifiers that may be needed later\n# State\nm3 All tests pass.\n# Conclusions\n-\n# Decisions\n-\n# Open\nm12 The release has to be announced.")
	if f.bad == "" {
		t.Errorf("it is used:\n%s", f.text)
	}
}
