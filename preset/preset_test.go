package preset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/preset"
)

func TestEmbeddedPresetsLoad(t *testing.T) {
	for _, name := range preset.Names() {
		p, err := preset.Load(name)
		if err != nil {
			t.Errorf("Load(%q): %v", name, err)
			continue
		}
		if p.Name != name || p.About == "" {
			t.Errorf("Load(%q): name %q, about %q", name, p.Name, p.About)
		}
	}
}

// These are the numbers of the systems that the presets follow; a preset that drifts from them is no longer the system
// it claims to be.
func TestPresetNumbers(t *testing.T) {
	loop, chat, orch := load(t, "agent-loop"), load(t, "chat"), load(t, "orchestrator")
	night, coding := load(t, "night-watch"), load(t, "coding-session")
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"004 threshold", loop.Trigger.Tokens, 80_000},
		{"004 protected tail", loop.Keep.Messages, 6},
		{"004 backstop", loop.Trigger.Messages, 50},
		{"004 result cap", loop.Tools.Cap, 40_000},
		{"004 preview head", loop.Summary.Preview.Head, 500},
		{"004 preview tail", loop.Summary.Preview.Tail, 200},
		{"004 summariser input", loop.Summary.MaxInput, 100_000},
		{"003 threshold", orch.Trigger.Tokens, 80_000},
		{"003 recent messages", orch.Keep.Messages, 10},
		{"003 fallback head", orch.Summary.Fallback.Head, 2000},
		{"003 fallback tail", orch.Summary.Fallback.Tail, 2000},
		{"001 window", chat.Trigger.Window, 200_000},
		{"001 reserve", chat.Trigger.Reserve, 20_000},
		{"001 five turns of the assistant, each with its results", chat.Keep.Messages, 2 * 5},
		{"001 fresh results stay whole", chat.Reduce.First.Over, 0},
		{"003 fresh results stay whole", orch.Reduce.First.Over, 0},
		{"001 soft trim over", chat.Reduce.Trim.Over, 4000},
		{"001 soft trim head", chat.Reduce.Trim.Head, 1500},
		{"001 soft trim tail", chat.Reduce.Trim.Tail, 1500},
		{"001 N", chat.Reduce.Trim.After, 3},
		{"001 M", chat.Reduce.Clear.After, 10},
		{"001 flush", chat.Flush.Settled().Ahead, 4000},
		{"001 keeps five turns", chat.Keep.Messages / 2, 5},
		{"004 summary", loop.Summary.MaxTokens, 4096},
		{"000 editing", night.Native.Editing.Tokens, 30_000},
		{"000 tool uses", night.Native.Editing.KeepCalls, 4},
		{"000 thinking turns", night.Native.Editing.KeepThinking, 2},
		{"000 clear at least", night.Native.Editing.Least, 5000},
		{"000 compaction", night.Native.Compaction.Tokens, 50_000},
		{"000 last messages", night.Keep.Messages, 4},
		{"000 least wait", int(night.Summary.Retry.Least.Seconds()), 15},
		{"000 longest wait", int(night.Summary.Retry.Most.Seconds()), 120},
		{"002 threshold", coding.Trigger.Tokens, 100_000},
		{"002 tight", load(t, "coding-session-50").Trigger.Tokens, 50_000},
		{"002 loose", load(t, "coding-session-150").Trigger.Tokens, 150_000},
		{"002 left, in tokens", int(coding.Trigger.Target * float64(coding.Trigger.Tokens)), 10_000},
	} {
		if c.got != c.want {
			t.Errorf("%s = %d, want %d", c.what, c.got, c.want)
		}
	}
}

// These are the words of the systems that the presets follow.
func TestPresetWords(t *testing.T) {
	loop, chat, orch := load(t, "agent-loop"), load(t, "chat"), load(t, "orchestrator")
	night, coding := load(t, "night-watch"), load(t, "coding-session")
	for _, c := range []struct{ what, got, want string }{
		{
			"000 instructions", night.Summary.Instructions,
			"Preserve: error class, transaction name, file paths examined, code patterns found, root cause hypotheses, and tool call results that revealed important information. Discard: redundant file listings, failed search attempts, and intermediate reasoning that led to dead ends.",
		},
		{"001 marker", chat.Summary.Begin, "[Session compacted. Summary of prior conversation:]"},
		{"001 model", chat.Summary.Model, "claude-haiku-4-5-20251001"},
		{"001 cleared", chat.Reduce.Clear.Text, "[Tool result cleared]"},
		{"001 silent token", chat.Flush.Settled().Token, "SILENT"},
		{"002 begin", coding.Summary.Begin, "<summary>"},
		{"002 end", coding.Summary.End, "</summary>"},
		{"002 model", coding.Summary.Model, "haiku"},
		{"002 never", string(load(t, "coding-session-never").Compaction), "never"},
		{"003 model", orch.Summary.Model, "claude-haiku-4-5-20251001"},
		{"004 begin", loop.Summary.Begin, "[CONTEXT SUMMARY]"},
		{"004 end", loop.Summary.End, "[END CONTEXT SUMMARY]"},
		{"004 acknowledgement", loop.Summary.Reply, "Understood. Continuing with the current task."},
		{
			"004 first line", loop.Notices.Due,
			"  Compaction: estimated ~{before} tokens, threshold {threshold} — compacting {messages} messages",
		},
		{
			"004 second line", loop.Notices.Done,
			"  Compaction: summarized {messages} messages into ~{summary} tokens, freed ~{freed} estimated tokens",
		},
		{"004 warning", loop.Notices.Failed, "  Warning: Compaction failed: {error}. Falling back to history trimming."},
	} {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.what, c.got, c.want)
		}
	}
	for _, c := range []struct{ what, text, has string }{
		{"001 prompt", chat.Summary.Instructions, "- Tool results that are still relevant"},
		{
			"002 summaryPrompt", coding.Summary.Instructions,
			"Summarize progress focusing on: completed items, key decisions, current state, next steps. Omit raw tool output.",
		},
		{"003 prompt", orch.Summary.Instructions, "- User preferences expressed"},
		{"004 prompt", loop.Summary.Instructions, "- Any scores, rankings, or evaluations produced"},
	} {
		if !strings.Contains(c.text, c.has) {
			t.Errorf("%s lacks %q:\n%s", c.what, c.has, c.text)
		}
	}
	if !night.Native.Compaction.Pause || !night.Keep.First {
		t.Errorf("000: pause %t, first message stays %t", night.Native.Compaction.Pause, night.Keep.First)
	}
}

func load(t *testing.T, name string) *preset.Preset {
	t.Helper()
	p, err := preset.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestErrorsNameTheKey(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"UnknownKey", "keep:\n  shere: 0.2\n", "shere"},
		{"UnknownReduction", "reduce:\n  order: [stubs]\n", "reduce.order"},
		{"Negative", "keep:\n  messages: -1\n", "keep.messages"},
		{"ShareAboveOne", "trigger:\n  target: 50\n", "trigger.target"},
		{"WrongType", "trigger:\n  tokens: many\n", "tokens"},
		{"Empty", "", "the file is empty"},
		{"CommentsOnly", "# keep: {turns: 3}\n---\n", "the file is empty"},
		{"NoKeys", "{}", "the file is empty"},
		{"Placement", "summary:\n  placement: system\n", "summary.placement"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := preset.Parse("my.yaml", []byte(c.yaml))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "my.yaml") {
				t.Errorf("error %v, want one that names my.yaml and %q", err, c.want)
			}
		})
	}
}

// first_sight can be switched off by word, however YAML reads that word.
func TestFirstSightOff(t *testing.T) {
	for _, c := range []struct {
		yaml string
		want int
	}{
		{"name: mine\n", 0},
		{"name: mine\nreduce: {first_sight: off}\n", 0},
		{"name: mine\nreduce: {first_sight: 'off'}\n", 0},
		{"name: mine\nreduce: {first_sight: false}\n", 0},
		{"name: mine\nreduce: {first_sight: {over: 9000}}\n", 9000},
	} {
		p, err := preset.Parse("mine.yaml", []byte(c.yaml))
		if err != nil || p.Reduce.First.Over != c.want {
			t.Errorf("%q: %+v, %v", c.yaml, p, err)
		}
	}
	for _, yaml := range []string{"name: a\nreduce: {first_sight: {ovr: 1}}\n",
		"name: a\nreduce: {first_sight: never}\n"} {
		if _, err := preset.Parse("mine.yaml", []byte(yaml)); err == nil {
			t.Errorf("%q is accepted", yaml)
		}
	}
}

func TestLoadFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("name: mine\nkeep: {turns: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := preset.Load(file)
	if err != nil || p.Keep.Turns != 2 {
		t.Errorf("Load = %+v, %v; want keep.turns 2", p, err)
	}
	if _, err := preset.Load("nosuch"); err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("Load of an unknown name: %v, want the names there are", err)
	}
}

// Sizes are preset keys, also per model class.
func TestSizesOfModelsWithCheapReads(t *testing.T) {
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	if p.For(0.1) != p {
		t.Error("a model whose reads cost a tenth has other sizes than any")
	}
	c := p.For(0.25 / 5.0)
	if c.Reduce.First != (preset.Trim{Over: 12000, Head: 5000, Tail: 3000}) || c.EarlyPours != p.EarlyPours ||
		c.Name != p.Name {
		t.Errorf("cheap reads: %+v, %+v", c.Reduce.First, c.EarlyPours)
	}
	if p.Reduce.First.Over != 16000 {
		t.Error("the sizes for other models have changed")
	}
	low, err := p.WithEarlyPours("low")
	if err != nil {
		t.Fatal(err)
	}
	if got := low.For(0.05); got.EarlyPours.Level != "low" || got.Reduce.First.Over != 12000 {
		t.Errorf("at another level: %+v, %+v", got.Reduce.First, got.EarlyPours)
	}
}

// What is wrong in the sizes of a class is named with its key.
func TestSizesOfAClassAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"cheap_reads: {early_pours: {level: most}}": "cheap_reads: early_pours.level",
		"cheap_reads: {first_sight: {over: -1}}":    "cheap_reads: first_sight.over",
		"cheap_reads: {early_pours: {quote: 2}}":    "cheap_reads: early_pours.quote",
		"cheap_reads: {early: {level: default}}":    "early",
	} {
		file := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := preset.Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
