package preset_test

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/preset"
)

// The numbers of chunks and of waiting, as they hold where a preset names none.
func TestSummariesHaveDefaults(t *testing.T) {
	p, err := preset.Parse("p.yaml", []byte("name: mine\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Summary
	if got, want := s.Chunk.Settled(), (preset.Chunk{Ratio: 0.4, Least: 0.15, Margin: 1.2, Overhead: 4096}); got != want {
		t.Errorf("chunk: %+v, want %+v", got, want)
	}
	if got, want := s.Timeout.Settled(), (preset.Timeout{Background: 3 * time.Minute, Foreground: 20 * time.Second}); got != want {
		t.Errorf("timeout: %+v, want %+v", got, want)
	}
	if got := s.Ahead.Tokens(); got != 20_000 {
		t.Errorf("ahead: %d", got)
	}
	if f := p.Flush.Settled(); f.On || f.Ahead != 4000 || f.Token != "SILENT" {
		t.Errorf("flush: %+v", f)
	}
	if p.Native.Editing.Tokens > 0 || p.Native.Compaction.Tokens > 0 {
		t.Errorf("native: %+v", p.Native)
	}
}

func TestSummaryKeys(t *testing.T) {
	p, err := preset.Parse("p.yaml", []byte(`
summary:
  model: haiku
  instructions: Preserve paths.
  chunk: {ratio: 0.3, margin: 1.5}
  timeout: {foreground: 5s}
  retry: {least: 15s, most: 120s, jitter: 5s}
  ahead: 10000
flush: {on: true, ahead: 2000, token: DONE}
native:
  route: local
  editing: {tokens: 30000, keep_calls: 4, keep_thinking: 2, least: 5000}
  compaction: {tokens: 50000, pause: true}
prune: every_request
`))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Summary
	if c := s.Chunk.Settled(); c.Ratio != 0.3 || c.Least != 0.15 || c.Margin != 1.5 {
		t.Errorf("chunk: %+v", c)
	}
	if s.Retry.Least != 15*time.Second || s.Retry.Most != 2*time.Minute || s.Retry.Jitter != 5*time.Second {
		t.Errorf("retry: %+v", s.Retry)
	}
	if s.Timeout.Settled().Foreground != 5*time.Second || s.Ahead.Tokens() != 10_000 {
		t.Errorf("timeout: %+v, ahead: %d", s.Timeout, s.Ahead.Tokens())
	}
	if f := p.Flush.Settled(); !f.On || f.Ahead != 2000 || f.Token != "DONE" {
		t.Errorf("flush: %+v", f)
	}
	if n := p.Native; n.Route != preset.RouteLocal || n.Editing.KeepThinking != 2 || !n.Compaction.Pause {
		t.Errorf("native: %+v", n)
	}
	if p.Prune != preset.PruneEveryRequest {
		t.Errorf("prune: %s", p.Prune)
	}
}

// Nothing is prepared ahead where a preset says so, however YAML reads the word.
func TestAheadOff(t *testing.T) {
	for _, word := range []string{"off", "'off'", "false", "0"} {
		p, err := preset.Parse("p.yaml", []byte("name: mine\nsummary: {ahead: "+word+"}\n"))
		if err != nil {
			t.Errorf("%s: %v", word, err)
		} else if n := p.Summary.Ahead.Tokens(); n != 0 {
			t.Errorf("%s: %d tokens ahead", word, n)
		}
	}
}

func TestErrorsOfStagesNameTheKey(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"summary: {ahead: -1}", "summary.ahead"},
		{"summary: {ahead: soon}", "ahead"},
		{"summary: {chunk: {ratio: 2}}", "summary.chunk.ratio"},
		{"summary: {chunk: {least: 0.5}}", "summary.chunk.least"},
		{"summary: {chunk: {margin: 0.9}}", "summary.chunk.margin"},
		{"summary: {timeout: {background: -1s}}", "summary.timeout.background"},
		{"summary: {timeout: {background: soon}}", "soon"},
		{"summary: {retry: {least: 2m, most: 1m}}", "summary.retry.most"},
		{"summary: {instructions: '" + strings.Repeat("x", 4001) + "'}", "summary.instructions"},
		{"compaction: maybe", "compaction"},
		{"base: nosuch", "base"},
		{"base: ../x.yaml", "base"},
		{"flush: {token: ' a'}", "flush.token"},
		{"flush: {ahead: -1}", "flush.ahead"},
		{"flush: {prompt: '" + strings.Repeat("x", 4001) + "'}", "flush.prompt"},
		{"native: {route: remote}", "native.route"},
		{"native: {editing: {tokens: 50000}, compaction: {tokens: 50000}}", "native.compaction.tokens"},
		{"native: {editing: {keep_calls: 4}}", "native.editing.tokens"},
		{"native: {compaction: {pause: true}}", "native.compaction.tokens"},
		{"reduce: {clear: {keep_calls: -1}}", "reduce.clear.keep_calls"},
		{"reduce: {thinking: {keep: -1}}", "reduce.thinking.keep"},
		{"prune: always", "prune"},
	} {
		if _, err := preset.Parse("p.yaml", []byte(tt.yaml)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: got %v, want an error that names %s", tt.yaml, err, tt.want)
		}
	}
}

// A file may start from an embedded preset: what it leaves out is as it is there.
func TestBase(t *testing.T) {
	chat := load(t, "chat")
	p, err := preset.Parse("mine.yaml", []byte("base: chat\ntrigger: {reserve: 1000}\nreduce: {clear: {after: 5}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "mine" || p.Base != "chat" {
		t.Errorf("name %q, base %q", p.Name, p.Base)
	}
	if p.Trigger.Reserve != 1000 || p.Trigger.Window != chat.Trigger.Window || p.Reduce.Clear.After != 5 {
		t.Errorf("trigger %+v, clear %+v", p.Trigger, p.Reduce.Clear)
	}
	if p.Reduce.Clear.Text != chat.Reduce.Clear.Text || p.Reduce.Trim != chat.Reduce.Trim || p.Keep != chat.Keep {
		t.Errorf("reduce %+v, keep %+v", p.Reduce, p.Keep)
	}
}
