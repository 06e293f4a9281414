package compaction_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/compaction"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// options are those of a compaction of a recorded session.
func options(t *testing.T) (*wire.Document, compaction.Options) {
	t.Helper()
	return optionsOf(t, "../../testdata/claude-code-session.jsonl.gz")
}

// optionsOf are options for a session in a file.
func optionsOf(t *testing.T, file string) (*wire.Document, compaction.Options) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := wire.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := wire.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	pre, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	model, _ := catalog.Lookup("claude-sonnet-4-5")
	return doc, compaction.Options{
		Name: "s.jsonl", As: compaction.Same, Model: model, Preset: pre, Now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	}
}

// A tenth is what was asked for and what the client will read, in each form.
func TestFile(t *testing.T) {
	for _, as := range []string{compaction.Same, compaction.Text, string(wire.Anthropic), string(wire.OpenAIChat), string(wire.OpenAIResponses)} {
		doc, o := options(t)
		o.As, o.Target = as, func(all int) int { return all / 10 }
		r, err := compaction.File(doc, o)
		if err != nil {
			t.Fatalf("%s: %v", as, err)
		}
		if !r.Changed || r.Plan.After.Messages > r.Plan.Before.Messages/8 || r.Report.Trigger != 0 {
			t.Errorf("%s: %d tokens became %d", as, r.Plan.Before.Messages, r.Plan.After.Messages)
		}
		out, err := r.Bytes()
		if err != nil || len(out) == 0 || len(out) >= len(doc.Source) {
			t.Errorf("%s: %d bytes of %d: %v", as, len(out), len(doc.Source), err)
		}
	}
}

// Below the trigger of the preset nothing is left out, and the file stays as it is, byte by byte.
func TestBelowTheTrigger(t *testing.T) {
	doc, o := options(t)
	o.Model.Window = 2_000_000
	r, err := compaction.File(doc, o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Bytes()
	if err != nil || r.Changed || !bytes.Equal(out, doc.Source) || r.Report.Trigger == 0 {
		t.Errorf("changed: %v, trigger %d, the same bytes: %v, %v", r.Changed, r.Report.Trigger, bytes.Equal(out, doc.Source), err)
	}
}

func TestTooSmallATargetIsRefused(t *testing.T) {
	doc, o := options(t)
	o.Target = func(int) int { return 20 }
	if _, err := compaction.File(doc, o); err == nil || !strings.Contains(err.Error(), "20 tokens or fewer") {
		t.Errorf("got %v", err)
	}
}
