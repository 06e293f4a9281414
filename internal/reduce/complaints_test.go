package reduce

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
)

// talk builds a conversation from the sections of a txtar archive.
func talk(archive string) *decant.Conversation {
	return conversation(txtar.Parse([]byte(archive)).Files)
}

// long is n numbered lines.
func long(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line %d of something that was printed\n", i+1)
	}
	return out.String()
}

// What users of other tools complained about (headroom and rtk: results that looked right and were
// false), each as a test.

func TestStubKeepsExitStatusAndErrorLine(t *testing.T) {
	c := talk("-- user --\nBuild.\n-- ! Bash {\"command\":\"make\"} --\nExit code 2\n" + long(20) + "src/a.c:3:4: error: 'x' undeclared\n" + long(20) + "-- assistant --\nHm.\n")
	ds := Stub(Of(context.Background(), c, options()))
	if len(ds) != 1 {
		t.Fatalf("got %d decisions, want 1", len(ds))
	}
	for _, want := range []string{"exit 2", "src/a.c:3:4: error: 'x' undeclared", "`make`", "41 lines"} {
		if !strings.Contains(ds[0].Text, want) {
			t.Errorf("stub does not say %q: %s", want, ds[0].Text)
		}
	}
	if strings.Contains(ds[0].Text, "\n") {
		t.Errorf("stub has more than one line: %q", ds[0].Text)
	}
}

func TestStubOfEmptyFailureSaysNothingFalse(t *testing.T) {
	c := talk("-- user --\nBuild.\n-- Bash {\"command\":\"go build ./...\"} --\n" + strings.Repeat("\n", 300) + "-- assistant --\nHm.\n")
	for _, d := range Stub(Of(context.Background(), c, options())) {
		if strings.Contains(d.Text, "exit 0") || strings.Contains(d.Text, "passed") ||
			!strings.Contains(d.Text, "no output") {
			t.Errorf("stub claims what nobody said: %s", d.Text)
		}
	}
}

func TestStubQuotesNoSecret(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2c3D4e5F6", 3)
	c := talk("-- user --\nPush.\n-- ! Bash {\"command\":\"GITHUB_TOKEN=" + key + " git push\"} --\nExit code 1\nusing " + key + "\nfatal: " + strings.Repeat("x", 150) + " token " + key + " rejected\n" + long(50) + "-- assistant --\nHm.\n")
	o := options()
	o.Mask = secret.Mask
	ds := Stub(Of(context.Background(), c, o))
	if len(ds) != 1 {
		t.Fatalf("got %d decisions, want 1", len(ds))
	}
	if strings.Contains(ds[0].Text, key[:12]) {
		t.Errorf("a part of the key is in the stub: %s", ds[0].Text)
	}
}

func TestTrimKeepsEveryErrorLineThatFits(t *testing.T) {
	c := talk("-- user --\nBuild.\n-- Bash {\"command\":\"make\"} --\n" + long(40) + "a.c:3:4: error: one\n" + long(40) + "b.c:3:4: error: two\n" + long(40) + "-- assistant --\nHm.\n")
	ds := Trim(Of(context.Background(), c, options()), Trimming{Over: 500, Head: 200, Tail: 200})
	if len(ds) != 1 || !strings.Contains(ds[0].Text, "error: one\n") || !strings.Contains(ds[0].Text, "error: two\n") {
		t.Errorf("an error line is gone:\n%s", print(ds))
	}
}

// blocks is the content of a result that the client sent as a list of blocks.
type blocks []string

func (b blocks) Text() string { return strings.Join(b, "\n") }
func (b blocks) Size() int    { return len(b.Text()) + 40*len(b) }

func TestListContentIsReduced(t *testing.T) {
	c := talk("-- user --\nBuild.\n-- Bash {\"command\":\"make\"} --\nx\n-- assistant --\nHm.\n")
	c.Messages[2].Blocks[0].Content = blocks{long(30), long(30)}
	if ds := Stub(Of(context.Background(), c, options())); len(ds) != 1 || !strings.Contains(ds[0].Text, "61 lines") {
		t.Errorf("got %s, want a stub for 61 lines", print(ds))
	}
	if ds := Trim(Of(context.Background(), c, options()), Trimming{Over: 500, Head: 100, Tail: 100}); len(ds) != 1 {
		t.Errorf("got %d decisions to trim, want 1", len(ds))
	}
}

func TestUnchangedInputGivesNoDecisions(t *testing.T) {
	c := talk("-- user --\nHello.\n-- Bash {\"command\":\"true\"} --\nok\n-- assistant --\nDone.\n")
	for name, ds := range all(c, options()) {
		if len(ds) > 0 {
			t.Errorf("%s: %s", name, print(ds))
		}
	}
}

func TestMalformedBlocksDoNotCrash(t *testing.T) {
	c := talk("-- user --\nHello.\n-- Read not json --\n" + long(30) + "-- Bash {\"command\": --\n" + long(30) + "-- assistant --\nDone.\n")
	c.Messages = append(c.Messages,
		decant.Message{
			Number: 8, Role: decant.RoleUser,
			Blocks: []decant.Block{{Kind: decant.KindResult, CallID: "orphan", Content: decant.Text(long(30)), Ref: decant.Ref{Message: 8}}},
		},
		decant.Message{
			Number: 9, Role: decant.RoleAssistant,
			Blocks: []decant.Block{
				{Kind: decant.KindUse, Name: "Edit", CallID: "never", Ref: decant.Ref{Message: 9}},
				{Kind: decant.KindOpaque, Ref: decant.Ref{Message: 9, Block: 1}},
			},
		},
		decant.Message{Number: 10, Role: decant.RoleUser})
	all(c, options())
	all(&decant.Conversation{}, options())
}

func TestShrunkResultMayBecomeStub(t *testing.T) {
	c := talk("-- user --\nBuild.\n-- Bash {\"command\":\"make\"} --\n" + long(100) + "-- assistant --\nHm.\n")
	trims := number(Trim(Of(context.Background(), c, options()), Trimming{Over: 500, Head: 200, Tail: 200}))
	view, err := decant.View(c, trims)
	if err != nil {
		t.Fatal(err)
	}
	if ds := Stub(Of(context.Background(), view, options())); len(ds) != 0 {
		t.Errorf("without the transcript: %s", print(ds))
	}
	o := options()
	o.Transcript, o.Made = c, trims
	again := Trim(Of(context.Background(), view, o), Trimming{Over: 300, Head: 50, Tail: 50})
	if len(again) != 1 || again[0].Target != trims[0].Target || strings.Count(again[0].Text, "[...") != 1 ||
		again[0].Before != trims[0].After {
		t.Errorf("want it cut further, from the original: %s", print(again))
	}
	ds := Stub(Of(context.Background(), view, o))
	if len(ds) != 1 || ds[0].Target != trims[0].Target || !strings.Contains(ds[0].Text, "100 lines") {
		t.Fatalf("want a stub of the original: %s", print(ds))
	}
	ds[0].ID = "stub"
	view, err = decant.View(c, append(trims, ds...))
	if err != nil || view.Messages[2].Blocks[0].Text() != ds[0].Text {
		t.Errorf("the stub does not replace the trimmed result: %v", err)
	}
}

// The tests that the specification of the chat system names for pruning, in its words.

// chat is six turns of a chat in which each answer used a tool.
func chat(result string) *decant.Conversation {
	var out strings.Builder
	for i := range 6 {
		fmt.Fprintf(&out, "-- user --\nQuestion %d: %s-- mail_search {\"query\":\"q%d\"} --\n%s-- assistant --\nAnswer %d: %s", i, long(200), i, result, i, long(200))
	}
	return talk(out.String())
}

// literal is the soft trim to the letter.
var literal = Trimming{Over: 4000, Head: 1500, Tail: 1500, After: 3, Literal: true}

func TestPrunePreservesRecentToolResults(t *testing.T) {
	c := chat(long(200))
	// Each turn has two messages of the assistant, the call and the answer.
	for _, d := range Trim(Of(context.Background(), c, options()), literal) {
		if after := assistantsAfter(c, d.Target.Message); after < 3 {
			t.Errorf("m%d has only %d messages of the assistant after it", d.Target.Message, after)
		}
	}
}

func TestPruneSoftTrimsOversizedOldResults(t *testing.T) {
	c := chat(long(200))
	ds := Trim(Of(context.Background(), c, options()), literal)
	if len(ds) != 5 {
		t.Fatalf("got %d decisions, want 5", len(ds))
	}
	old := strings.TrimSuffix(long(200), "\n")
	if want := old[:1500] + "..." + old[len(old)-1500:]; ds[0].Text != want {
		t.Errorf("got %d characters, want the first 1500, three dots, the last 1500", len(ds[0].Text))
	}
	if ds := Trim(Of(context.Background(), chat(strings.Repeat("x", 4000)+"\n"), options()), literal); len(ds) != 0 {
		t.Errorf("a result of 4000 characters is trimmed: the limit is above 4000")
	}
	if ds := Trim(Of(context.Background(), chat(strings.Repeat("x", 4001)+"\n"), options()), literal); len(ds) != 5 {
		t.Errorf("a result of 4001 characters is not trimmed")
	}
}

func TestPruneHardClearsVeryOldResults(t *testing.T) {
	c := chat("short but long enough for a placeholder to be shorter than it\n")
	ds := Clear(Of(context.Background(), c, options()), Clearing{After: 10})
	if len(ds) != 1 || ds[0].Text != "[Tool result cleared]" || ds[0].Target.Message != 3 {
		t.Errorf("want m3 alone cleared:\n%s", print(ds))
	}
}

func TestPruneNeverModifiesUserMessages(t *testing.T)      { neverTouches(t, decant.KindText) }
func TestPruneNeverModifiesAssistantMessages(t *testing.T) { neverTouches(t, decant.KindUse) }

func neverTouches(t *testing.T, kind decant.Kind) {
	t.Helper()
	c := chat(long(200))
	s := Of(context.Background(), c, options())
	for _, d := range append(Trim(s, literal), Clear(s, Clearing{After: 10})...) {
		if b := block(c, d.Target.Ref); b.Kind == kind || b.Kind != decant.KindResult {
			t.Errorf("m%d: a %s is changed", d.Target.Message, b.Kind)
		}
	}
}

func TestPruneSkipsImageContentBlocks(t *testing.T) {
	c := chat(long(200))
	for i := range c.Messages {
		if b := &c.Messages[i].Blocks[0]; b.Kind == decant.KindResult {
			b.Media = decant.Media{Type: "image/png", Count: 1}
		}
	}
	for name, ds := range all(c, options()) {
		if len(ds) > 0 {
			t.Errorf("%s touches a result with an image", name)
		}
	}
}

func TestPruneDenyWinsOverAllow(t *testing.T) {
	c := talk("-- user --\nx\n-- exec_command {\"cmd\":\"a\"} --\n" + long(50) + "-- mcp__mail__search {\"q\":\"a\"} --\n" + long(50) + "-- assistant --\nDone.\n")
	for _, k := range []struct {
		include, exclude []string
		want             int
	}{{nil, nil, 2}, {[]string{"EXEC_*"}, nil, 1}, {[]string{"*"}, []string{"*mail*"}, 1}, {[]string{"exec_command"}, []string{"exec*command"}, 0}, {[]string{"mcp__*__search"}, nil, 1}, {[]string{"exec"}, nil, 0}} {
		o := options()
		o.Include, o.Exclude = k.include, k.exclude
		if ds := Stub(Of(context.Background(), c, o)); len(ds) != k.want {
			t.Errorf("include %q, exclude %q: %d decisions, want %d", k.include, k.exclude, len(ds), k.want)
		}
	}
}

func assistantsAfter(c *decant.Conversation, number int) int {
	n := 0
	for _, m := range c.Messages[number:] {
		if m.Role == decant.RoleAssistant {
			n++
		}
	}
	return n
}

// A result of one line, as MCP servers and JSON printers return it, collapsed to 2,036
// characters whatever room there was.
func TestAResultOfOneLineGetsItsRoom(t *testing.T) {
	var items []string
	for i := range 700 {
		items = append(items, fmt.Sprintf(`{"id":%d,"title":"item number %d of the list","url":"https://example.com/items/%d"}`, i, i, i))
	}
	line := "[" + strings.Join(items, ",") + "]"
	for _, c := range []struct {
		name string
		t    Trimming
		want int // least characters that are shown
	}{
		{"Default", Trimming{Over: 16_000, Head: 4000, Tail: 4000}, 7_000},
		{"AgentLoop", Trimming{Over: 40_000, Head: 20_000, Tail: 20_000}, 39_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := FirstSight(Of(context.Background(), talk("-- user --\nList.\n-- mcp__shop__list {} --\n"+line+"\n"), options()), c.t)
			if len(ds) != 1 {
				t.Fatalf("got %d decisions, want 1", len(ds))
			}
			text := ds[0].Text
			head, rest, _ := strings.Cut(text, "[... ")
			note, tail, _ := strings.Cut(rest, " ...]")
			if n := len(head) + len(tail); n < c.want || n > len(line) {
				t.Errorf("%d characters are shown, want at least %d", n, c.want)
			}
			if !strings.HasSuffix(head, ",") || !strings.HasPrefix(tail, `{"id"`) && !strings.HasPrefix(tail, `"`) {
				t.Errorf("cut inside a value: %q ... %q", head[len(head)-30:], tail[:30])
			}
			if !strings.Contains(note, fmt.Sprintf("of %d,%03d characters", len(line)/1000, len(line)%1000)) ||
				!strings.Contains(note, "offset") {
				t.Errorf("the note %q does not say how much there is and how to see it", note)
			}
		})
	}
}

// What a shell printed is not read again, it is run again.
func TestStubsSayHowToGetTheOriginalBack(t *testing.T) {
	for call, want := range map[string]string{
		`Bash {"command":"cat server.go"}`:     "Run it again if needed]",
		`Bash {"command":"grep -rn serve ."}`:  "Run it again if needed]",
		`Read {"file_path":"/src/server.go"}`:  "Read it again if needed]",
		`Grep {"pattern":"serve","path":"/s"}`: "Search again if needed]",
	} {
		c := talk("-- user --\nLook.\n-- " + call + " --\n" + long(60) + "-- assistant --\nHm.\n-- Bash {\"command\":\"true\"} --\nok\n-- assistant --\nDone.\n")
		ds := Stub(Of(context.Background(), c, options()))
		if len(ds) != 1 || !strings.HasSuffix(ds[0].Text, want) {
			t.Errorf("%s: %s, want it to end with %q", call, print(ds), want)
		}
	}
}
