package engine_test

import (
	"net/http"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// A request ends once: whoever says again how it ended changes nothing, and it is booked as it was first.
func TestARequestEndsOnce(t *testing.T) {
	var spends []store.Spend
	k := newDialogue(t, engine.Options{OnBooked: func(_ string, s []store.Spend) { spends = append(spends, s...) }})
	k.user("hello")
	p := k.prepare()
	for _, tokens := range []int{20, 30} {
		k.engine.Finish(p, engine.Response{Status: http.StatusOK, Usage: decant.Usage{Input: tokens, Output: 10}, Content: []byte(`[]`)})
		k.engine.Flush(t.Context())
	}
	k.engine.Close()
	if len(spends) != 1 || spends[0].Usage.Input != 20 {
		t.Errorf("booked %+v, want one request of 20 tokens", spends)
	}
}
