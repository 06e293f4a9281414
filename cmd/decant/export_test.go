package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// An export to the client's own API leaves nothing out: thinking with its signature, images, members
// that nobody knows. Other APIs have no place for them, and that is said.
func TestExportKeepsWhatHasAPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	d, err := embedded.Open(t.Context(), path, &embedded.Options{Engine: engine.Options{
		Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(t),
	}})
	if err != nil {
		t.Fatal(err)
	}
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	const thinking = `{"type":"thinking","thinking":"hm","signature":"EqoBCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgC"}`
	body := `{"model":"claude-opus-4-6","max_tokens":100,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":[` + image + `,{"type":"text","text":"what is it?","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[` + thinking + `,{"type":"text","text":"a dot"}]},{"role":"user","content":"sure?"}]}`
	p, err := d.Engine().Prepare(t.Context(), &engine.Request{Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	d.Engine().Finish(p, engine.Response{Status: 200, Content: []byte(`[{"type":"text","text":"yes"}]`)})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		as, has, warning string
	}{
		{"anthropic", thinking, ""},
		{"anthropic", image, ""},
		{"anthropic", `"text":"yes"`, ""},
		{"openai-chat", `"a dot"`, "images and documents are included by name only (1)"},
		{"openai-responses", `"a dot"`, "images and documents are included by name only (1)"},
		{"text", "what is it?", ""},
	} {
		var out, messages bytes.Buffer
		s := &process.Process{Args: []string{"export", "last", "--as", tt.as, "--db", path}, Out: &out, Err: &messages, Width: 80}
		if code := run(s); code != exit.Done {
			t.Errorf("as %s: exit code %d: %s", tt.as, code, messages.String())
		}
		if !strings.Contains(out.String(), tt.has) || strings.Contains(out.String(), "cache_control") {
			t.Errorf("as %s: want %s and no cache markers in\n%s", tt.as, tt.has, out.String())
		}
		if !strings.Contains(messages.String(), tt.warning) || tt.warning == "" && messages.Len() > 0 {
			t.Errorf("as %s: messages %q, want %q", tt.as, messages.String(), tt.warning)
		}
	}
}
