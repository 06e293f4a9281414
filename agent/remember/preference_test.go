package remember_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A caller makes the calls that the user types, and answers from what it sees otherwise.
var caller = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
	if last := p.Last(decant.RoleUser); strings.HasPrefix(last, "save_memory ") || strings.HasPrefix(last, "recall ") {
		return operator(p)
	}
	return keeper(p)
})

// A preference that was corrected once, among decoys of the user, of other projects and
// of other tenants, answers in a new session after the old one was deleted. Where sessions are told nothing, it does not.
func TestACorrectedPreferenceOutlivesItsSession(t *testing.T) {
	for _, recalls := range []bool{true, false} {
		w := newWorld(t, caller, embedded.Options{Recall: recalls})
		was, is := fmt.Sprintf("brew-%x", rand.Uint32()), fmt.Sprintf("brew-%x", rand.Uint32())
		s := w.agent("chat", nil).Session("old")
		w.say(s, fmt.Sprintf(`save_memory {"content":"The user prefers %s for drinks."}`, was))
		for _, decoy := range []string{"The user prefers soup for lunch.", "Her brother likes water for drinks.", "The office buys drinks on Fridays."} {
			w.say(s, fmt.Sprintf(`save_memory {"content":%q}`, decoy))
		}
		w.say(w.agent("another", nil).Session(""), `save_memory {"content":"The user prefers nothing for drinks."}`)
		id := anID.FindString(w.say(s, fmt.Sprintf(`recall {"query":"%s"}`, was)))
		w.say(s, fmt.Sprintf(`save_memory {"content":"The user prefers %s for drinks.","corrects":%q}`, is, id))
		if err := w.db.Engine().Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := store.Forgetting{Tenant: "acme", Conversations: []string{s.Conversation().ID}, KeepMemories: true}
		if _, err := w.db.Store().Forget(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		got := w.say(w.agent("chat", nil).Session("new"), "What does the user prefer for drinks?")
		if strings.Contains(got, is) != recalls || strings.Contains(got, was) {
			t.Errorf("sessions are told what is remembered: %v; a new one says %q, want %s", recalls, got, is)
		}
		w.legal()
	}
}

// Of two texts that were both saved, with no word that one corrects the other, the newer one stands last and answers.
func TestTheNewerOfTwoAnswers(t *testing.T) {
	w := newWorld(t, caller, embedded.Options{Recall: true})
	w.remember("chat", "The user prefers tea for drinks.")
	w.remember("chat", "The user prefers milk for drinks.")
	if got := w.say(w.agent("chat", nil).Session(""), "What does the user prefer for drinks?"); !strings.Contains(got, "milk") {
		t.Errorf("a new session says %q", got)
	}
	if items := w.items("chat"); len(items) != 2 || items[0].State() != memory.Active {
		t.Errorf("remembered: %+v", items)
	}
}
