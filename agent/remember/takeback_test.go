package remember_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// What a turn has saved can be taken back: what was new goes, what it corrected is in use again, and what was there before is as often confirmed as
// before. Nothing else changes, and putting it back makes all of it what it was.
func TestWhatWasSavedIsTakenBack(t *testing.T) {
	w := newWorld(t, operator, embedded.Options{})
	a := w.agent("shop", nil)
	other := a.Session("other")
	w.say(other, `save_memory {"content":"The user prefers tabs."}`)
	w.say(other, `save_memory {"content":"Prices are in cents."}`)
	if err := w.db.Engine().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	tabs := anID.FindString(w.say(other, `recall {"query":"tabs"}`))
	before := w.items("shop")

	s := a.Session("s")
	w.say(s, `save_memory {"content":"The shop is in Basel."}`)
	first := w.items("shop")
	turn := len(s.Messages())
	w.say(s, fmt.Sprintf(`save_memory {"content":"The user prefers spaces.","corrects":%q}`, tabs))
	w.say(s, `save_memory {"content":"Prices are in cents."}`)
	w.say(s, `save_memory {"content":"No such thing.","corrects":"m:000000000000"}`) // it fails
	w.say(s, `save_memory {"content":"The door code is 4711."}`)
	w.say(other, `save_memory {"content":"The door code is 4711."}`) // and is said again elsewhere
	after := w.items("shop")

	o := remember.Options{Store: w.db.Store(), Tenant: "acme", Project: "shop"}
	found, err := w.db.Store().Conversations(t.Context(), store.Filter{Tenant: "acme", Session: "s"})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	conversations := []string{found[0].ID}
	var calls []string
	for _, m := range s.Messages() {
		if id := regexp.MustCompile(`toolu_\w+`).FindString(string(m)); strings.HasPrefix(string(m), `{"role":"assistant"`) && id != "" {
			calls = append(calls, id)
		}
	}
	if but, err := remember.TakeBack(t.Context(), o, conversations, s.Messages(), 0, calls...); err != nil || len(calls) != 5 || len(but.Items) > 0 {
		t.Fatalf("but for %q something is taken back: %+v, %v", calls, but, err)
	}
	taken, err := remember.TakeBack(t.Context(), o, conversations, s.Messages(), turn)
	if err != nil || len(taken.Items) != 3 {
		t.Fatalf("%d items are changed: %+v, %v", len(taken.Items), taken.Items, err)
	}
	byID := cmpopts.SortSlices(func(a, b memory.Item) bool { return a.ID < b.ID })
	times := cmpopts.IgnoreFields(memory.Item{}, "Archived", "Restored")
	var left []memory.Item
	for _, it := range w.items("shop") {
		if it.Text != "The door code is 4711." {
			left = append(left, it)
		} else if it.Times != 1 {
			t.Errorf("what was said elsewhere, too: %+v", it)
		}
	}
	if d := cmp.Diff(first, left, byID, times); d != "" {
		t.Errorf("after it was taken back (-want +got):\n%s", d)
	}
	if err := remember.PutBack(t.Context(), o, taken); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(after, w.items("shop"), byID); d != "" {
		t.Errorf("after it was put back (-want +got):\n%s", d)
	}
	if _, err := remember.TakeBack(t.Context(), o, conversations, s.Messages(), 0); err != nil {
		t.Fatal(err)
	}
	if got := w.items("shop"); len(got) != len(before)+1 {
		t.Errorf("after all of it was taken back: %+v", got)
	}
	if again, err := remember.TakeBack(t.Context(), o, conversations, s.Messages(), 0); err != nil || len(again.Items) > 0 {
		t.Errorf("what was taken back is taken back again: %+v, %v", again, err)
	}
}
