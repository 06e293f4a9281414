package chatserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/apps/chat/internal/receipt"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// An answer says what it rests on, and says the same after pours, undone pours, a restart, and in a branch.
func TestWhyOverTheAPI(t *testing.T) {
	filler := strings.Repeat("Some words about the weather on the coast. ", 250)
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if strings.Contains(last(p), "rent") {
			return says("The flat in Rua da Rosa costs 1450 a month. The garage costs 777 a month.")
		}
		return says(filler)
	}))
	get[any](w, 201, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"small","model":"claude-sonnet-4-5","preset":"coding-session","config":{"context_window":30000}}`})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", body: `{"agent":"small"}`}).ID
	path := "/v1/sessions/" + id
	w.say(id, "The flat in Rua da Rosa costs 1,450 EUR a month.")
	w.say(id, "What is the rent?")
	why := func(id string, n int) receipt.Receipt {
		t.Helper()
		return get[receipt.Receipt](w, 200, httpCall{method: "GET", path: fmt.Sprintf("/v1/sessions/%s/messages/%d/why", id, n)})
	}
	before := why(id, 3)
	if len(before.Sentences) != 2 || before.Answer != 4 || before.Messages != 3 {
		t.Fatalf("%+v", before)
	}
	flat, garage := before.Sentences[0], before.Sentences[1]
	if flat.Verdict == "unsent" || len(flat.Sources) == 0 || flat.Sources[0].Place == nil || flat.Sources[0].Place.Message != 1 || flat.Sources[0].Form != "verbatim" {
		t.Errorf("the flat: %+v", flat)
	}
	if garage.Verdict == "sent" || !cmp.Equal(garage.Missing, []string{"777"}) {
		t.Errorf("the garage: %+v", garage)
	}
	for range 14 {
		w.say(id, "Tell me of the weather.")
	}
	if c := get[filling](w, 200, httpCall{method: "GET", path: path + "/context"}); c.Cycle < 1 {
		t.Errorf("nothing was poured: %+v", c)
	}
	get[any](w, 200, httpCall{method: "POST", path: path + "/undo"})
	w.restart()
	if d := cmp.Diff(before, why(id, 3)); d != "" {
		t.Errorf("the receipt has changed (-was +is):\n%s", d)
	}
	f := get[struct {
		ID string `json:"id"`
	}](w, 201, httpCall{method: "POST", path: path + "/fork"})
	if d := cmp.Diff(before, why(f.ID, 3)); d != "" {
		t.Errorf("the receipt is another one in a branch (-was +is):\n%s", d)
	}
	for n, status := range map[string]int{"0": 404, "99": 404, "-1": 404, "x": 400} {
		get[any](w, status, httpCall{method: "GET", path: path + "/messages/" + n + "/why"})
	}
	get[any](w, 404, httpCall{method: "GET", path: "/v1/sessions/nowhere/messages/1/why"})
	w.legal()
}
