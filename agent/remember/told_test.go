package remember_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/preset"
)

// What a session was told when it began stays in the same bytes, whatever is saved later, so that the provider's cache stays valid. When a
// pour covers it, it is told again.
func TestWhatASessionIsToldStays(t *testing.T) {
	w := newWorld(t, keeper, embedded.Options{Recall: true})
	drink := fmt.Sprintf("brew-%x", rand.Uint32())
	w.remember("shop", "I prefer "+drink+" for drinks.")
	s := w.agent("shop", chatty(t)).Session("")
	w.say(s, "Hello.")
	first := w.told()
	if !bytes.Contains(first, []byte(drink)) {
		t.Fatalf("told: %s", first)
	}
	w.remember("shop", "Something else that is new.")
	pours := 0
	for n := 0; pours == 0 && n < 60; n++ {
		for e, err := range s.Run(t.Context(), strings.Repeat(fmt.Sprintf("The weather on day %d was mild. ", n), 80)) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == agent.EventPour {
				pours++
			}
		}
		if pours == 0 && !bytes.Equal(w.told(), first) {
			t.Fatalf("first told %s, then %s", first, w.told())
		}
	}
	if got := w.say(s, "What do I prefer for drinks?"); !strings.Contains(got, drink) {
		t.Errorf("after a pour the model says %q", got)
	}
}

// The same where the pour comes between a call and what follows from it: the results come first, and what is told stands behind them.
func TestWhatASessionIsToldStaysInARound(t *testing.T) {
	w := newWorld(t, keeper, embedded.Options{Recall: true})
	drink := fmt.Sprintf("brew-%x", rand.Uint32())
	w.remember("shop", "I prefer "+drink+" for drinks.")
	loop, err := preset.Load("agent-loop")
	if err != nil {
		t.Fatal(err)
	}
	loop.Trigger.Tokens = 12_000
	read := agent.Func("read_file", "Reads a file.", func(_ context.Context, _ *agent.Call, in struct {
		Path string `json:"path"`
	}) (agent.Result, error) {
		return agent.Result{Text: strings.Repeat("Of "+in.Path+" this is a line.\n", 200)}, nil
	})
	s := w.agent("shop", loop, read).Session("")
	pours := 0
	for n := 0; pours < 3 && n < 60; n++ {
		for e, err := range s.Run(t.Context(), fmt.Sprintf("Read day%d.txt.", n)) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == agent.EventPour {
				pours++
			}
		}
	}
	if got := w.say(s, "What do I prefer for drinks?"); pours != 3 || !strings.Contains(got, drink) || bytes.Count(w.server.Log.Last().Body, []byte(drink)) != 1 {
		t.Errorf("after %d pours the model says %q; sent: %s", pours, got, w.server.Log.Last().Body)
	}
	w.legal()
}
