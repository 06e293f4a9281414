package agent

import (
	"errors"
	"testing"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A model that says nothing is asked once more, and then the run fails.
func TestAnEmptyAnswer(t *testing.T) {
	empty := map[string]sandbox.Answer{
		"no block":        {Stop: "end_turn"},
		"a blank text":    {Blocks: []sandbox.Block{text(" \n")}, Stop: "end_turn"},
		"an unknown stop": {Stop: "stop_sequence"},
	}
	for name, nothing := range empty {
		for _, times := range []int{1, 2} {
			asked := 0
			w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer {
				if asked++; asked <= times {
					return nothing
				}
				return says(text("fine"))
			}))
			_, o, err := finished(t, w.agent(Options{}).Session("").Run(t.Context(), "hi"))
			if times == 1 && (err != nil || o.Text != "fine" || o.Stop != StopAnswered) {
				t.Errorf("%s, once: %+v, %v", name, o, err)
			}
			if times == 2 && (!errors.Is(err, provider.ErrBroken) || o.Stop != StopFailed || asked != 2) {
				t.Errorf("%s, twice: %+v, %v, asked %d times", name, o, err, asked)
			}
			w.legal()
		}
	}
}

// An answer that has reached the end of the window goes on as one that has reached its maximum length does.
func TestAnAnswerThatFillsTheWindow(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		return sandbox.Answer{Blocks: []sandbox.Block{text("more")}, Stop: "model_context_window_exceeded"}
	}))
	if _, o, err := finished(t, w.agent(Options{}).Session("").Run(t.Context(), "hi")); err != nil || o.Stop != StopLength {
		t.Errorf("%+v, %v", o, err)
	}
	w.legal()
}
