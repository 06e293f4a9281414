package openai_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/testing/sandbox"
)

// The strict stand-in takes what the client sends, without a key as a local server does, and what it counts is what is
// reported.
func TestTheSandboxTakesIt(t *testing.T) {
	api := sandbox.New(sandbox.Options{Local: []string{"qwen3:8b"}, Model: sandbox.Summarizer{}})
	c := client(t, api, openai.Options{})
	a, err := c.Ask(t.Context(), &provider.Request{
		Model: "qwen3:8b", System: "Summarize.", Prompt: strings.Repeat("The build in internal/auth fails on port 8443. ", 20), MaxTokens: 400, Cool: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if e := api.Log.Last(); a.Text == "" || a.Stop != "end_turn" || a.Usage == (decant.Usage{}) || a.Usage != e.Usage {
		t.Errorf("answer %+v, logged %+v", a, e.Usage)
	}
	if refused := api.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
}
