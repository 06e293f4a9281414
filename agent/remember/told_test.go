package remember_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
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
