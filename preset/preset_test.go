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

// The seeds' documents state these numbers; a preset that drifts from them is no longer the system
// it claims to be.
func TestSeedNumbers(t *testing.T) {
	loop, chat, orch := load(t, "agent-loop"), load(t, "chat"), load(t, "orchestrator")
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
		{"001 reserve", chat.Trigger.Reserve, 20_000},
		{"001 soft trim over", chat.Reduce.Trim.Over, 4000},
		{"001 soft trim head", chat.Reduce.Trim.Head, 1500},
		{"001 soft trim tail", chat.Reduce.Trim.Tail, 1500},
		{"001 N", chat.Reduce.Trim.After, 3},
		{"001 M", chat.Reduce.Clear.After, 10},
	} {
		if c.got != c.want {
			t.Errorf("%s = %d, want %d", c.what, c.got, c.want)
		}
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
