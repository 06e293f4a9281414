package preset_test

import (
	"testing"

	"github.com/decantdev/decant/preset"
)

// The seven settings of a chat have its defaults, and a file of one's own changes each of them.
func TestChatSettings(t *testing.T) {
	own, err := preset.Parse("own.yaml", []byte(`
base: chat
trigger: {window: 100000, reserve: 10000}
flush: {ahead: 2000}
keep: {messages: 6}
reduce:
  trim: {over: 2000, after: 5}
summary: {model: claude-sonnet-5-5}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		of               func(p *preset.Preset) any
		byDefault, ofOwn any
	}{
		{"context_window", func(p *preset.Preset) any { return p.Trigger.Window }, 200_000, 100_000},
		{"reserve_tokens", func(p *preset.Preset) any { return p.Trigger.Reserve }, 20_000, 10_000},
		{"flush_threshold", func(p *preset.Preset) any { return p.Flush.Settled().Ahead }, 4000, 2000},
		{"keep_recent_turns", func(p *preset.Preset) any { return p.Keep.Messages / 2 }, 5, 3},
		{"prune_keep_last_assistants", func(p *preset.Preset) any { return p.Reduce.Trim.After }, 3, 5},
		{"prune_soft_trim_chars", func(p *preset.Preset) any { return p.Reduce.Trim.Over }, 4000, 2000},
		{"compaction_model", func(p *preset.Preset) any { return p.Summary.Model }, "claude-haiku-4-5-20251001", "claude-sonnet-5-5"},
	} {
		if got := c.of(load(t, "chat")); got != c.byDefault {
			t.Errorf("%s is %v, want %v", c.name, got, c.byDefault)
		}
		if got := c.of(own); got != c.ofOwn {
			t.Errorf("%s is %v in a file that says %v", c.name, got, c.ofOwn)
		}
	}
	if !own.Flush.On || own.Reduce.Trim.Head != 1500 || own.Reduce.Clear.After != 10 {
		t.Errorf("what the file leaves out is not as in chat: %+v", own.Reduce)
	}
}
