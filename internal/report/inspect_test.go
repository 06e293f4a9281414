package report_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
)

var update = flag.Bool("update", false, "rewrite the expected parts of golden files")

// words counts a token for each word, so that the figures in golden files can be checked by eye.
type words struct{}

func (words) Block(b *decant.Block) int { return len(strings.Fields(b.Text())) }

func (words) Fixed(f *decant.Fixed) int { return 10 * len(f.Tools) }

func conversation() *decant.Conversation {
	text := func(kind decant.Kind, by decant.Author, s string) decant.Block {
		return decant.Block{Kind: kind, Author: by, Content: decant.Text(s)}
	}
	use := func(id, tool, args string) decant.Block {
		return decant.Block{Kind: decant.KindUse, Author: decant.AuthorModel, CallID: id, Name: tool, Content: decant.Text(args)}
	}
	result := func(id, tool, s string) decant.Block {
		return decant.Block{Kind: decant.KindResult, Author: decant.AuthorTool, CallID: id, Name: tool, Content: decant.Text(s)}
	}
	long := strings.Repeat("func next() error\n", 200)
	c := &decant.Conversation{
		Agent: "claude-code", Model: "m-1", Fixed: decant.Fixed{Tools: make([]decant.Tool, 3)},
		Messages: []decant.Message{
			{Role: decant.RoleUser, Blocks: []decant.Block{text(decant.KindText, decant.AuthorClient, "a reminder"), text(decant.KindText, decant.AuthorUser, "please fix the test")}},
			{Role: decant.RoleAssistant, Model: "m-1", Usage: &decant.Usage{Input: 10, CacheRead: 90, CacheWrite: 50, Output: 7}, Blocks: []decant.Block{use("1", "Read", `{"file_path":"/src/a.go"}`)}},
			{Role: decant.RoleUser, Blocks: []decant.Block{result("1", "Read", long)}},
			{Role: decant.RoleAssistant, Model: "m-1", Blocks: []decant.Block{use("2", "Edit", `{"file_path":"/src/a.go","old_string":"x","new_string":"y"}`)}},
			{Role: decant.RoleUser, Blocks: []decant.Block{result("2", "Edit", "done")}},
			{Role: decant.RoleUser, Compaction: true, Blocks: []decant.Block{text(decant.KindText, decant.AuthorClient, "summary of all that")}},
			{Role: decant.RoleAssistant, Model: "m-1", Blocks: []decant.Block{text(decant.KindText, decant.AuthorModel, "fixed")}},
		},
	}
	for i := range c.Messages {
		c.Messages[i].Number = i + 1
		for k := range c.Messages[i].Blocks {
			c.Messages[i].Blocks[k].Ref = decant.Ref{Message: i + 1, Block: k}
		}
	}
	return c
}

func TestInspectText(t *testing.T) {
	in := report.Inspect(conversation(), words{})
	in.Name, in.Format, in.Window = "session.jsonl", "claude-code", 2000
	in.Superseded = 0.99
	var got bytes.Buffer
	if err := in.WriteText(&got, 72); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/inspect.txtar", got.Bytes())
}

// golden compares got with the part "want" of a txtar file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		a.Files = []txtar.File{{Name: "want", Data: got}}
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(a.Files) == 0 {
		t.Fatalf("%s has no part to compare with", name)
	}
	if diff := cmp.Diff(string(a.Files[0].Data), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The parts of an inspection add up to its total.
func TestCategoriesAddUp(t *testing.T) {
	in := report.Inspect(conversation(), words{})
	sum := 0
	for _, c := range in.Categories {
		sum += c.Tokens
	}
	if sum != in.Tokens {
		t.Errorf("categories have %d tokens, the conversation %d", sum, in.Tokens)
	}
	if in.Live >= in.Tokens {
		t.Errorf("%d of %d tokens are live, although the client compacted", in.Live, in.Tokens)
	}
}

// Usage that a client wrote on several lines of one message counted twice in other tools.
func TestUsageIsCountedOnce(t *testing.T) {
	in := report.Inspect(conversation(), words{})
	if in.Requests != 1 || in.Usage.Prompt() != 150 || in.Usage.CacheHit != 0.6 {
		t.Errorf("usage %+v of %d requests, want 150 prompt tokens of one, 60 %% from the cache", in.Usage, in.Requests)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 85200: "85,200", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := report.Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

// The page opens with the verdict and holds what the text says; nothing that a file says is markup in it.
func TestInspectPage(t *testing.T) {
	in := report.Inspect(conversation(), words{})
	in.Name, in.Format, in.Window = "<b>session</b>.jsonl", "claude-code", 2000
	in.Superseded = 0.99
	in.Warnings = []string{"line 3: <script>"}
	var page bytes.Buffer
	if err := report.WriteInspections(&page, []*report.Inspection{in, in}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"35 tokens of a window of 2,000 are in use (2%); 93% of the transcript are tool results; 99% of what tools returned is out of date",
		"&lt;b&gt;session&lt;/b&gt;.jsonl", "<td>601<td>93%", "/src/a.go", "line 3: &lt;script&gt;", `id="file-2"`, "the client compacted at m6", "<svg",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<b>session", "<script", "http://", "https://", "%!"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}
