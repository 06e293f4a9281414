package chatserver

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
)

// A session that went on elsewhere is told so once, and can be used again at once: it is read anew.
func TestASessionThatWentOnElsewhere(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	w.say(id, "one")
	j, err := w.db.Store().Journal(t.Context(), keyOf(id))
	if err != nil {
		t.Fatal(err)
	}
	add := &store.Addition{Key: keyOf(id), Length: j.Length, Kind: j.Kind, Conversation: j.Conversation, Steps: [][]byte{[]byte(`{"title":"elsewhere"}`)}}
	if err := w.db.Store().AddSteps(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	e := get[map[string]map[string]string](w, http.StatusConflict, httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"two"}`})
	if e["error"]["type"] != "taken" {
		t.Errorf("%v", e)
	}
	if o := w.say(id, "two"); o.Text != "3: two" {
		t.Errorf("%+v", o)
	}
	w.legal()
}

// Who listens to a session whose agent changes is told to come back, and then hears what is said with the new one.
func TestAListenerComesBackToAChangedAgent(t *testing.T) {
	w := newWorld(t, echo)
	conf := `{"name":"mail","model":"claude-sonnet-4-5","system":"Version %d."}`
	get[Agent](w, 201, httpCall{method: "POST", path: "/v1/agents", body: fmt.Sprintf(conf, 1)})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", body: `{"agent":"mail"}`}).ID
	w.say(id, "one")
	path := httpCall{method: "GET", path: "/v1/sessions/" + id + "/events"}
	res, last := w.do(path), ""
	get[Agent](w, 200, httpCall{method: "POST", path: "/v1/agents", body: fmt.Sprintf(conf, 2)})
	events(t, res, func(e arrived) bool { last = e.id; return true }) // it ends by itself

	path.header = map[string]string{"Last-Event-ID": last}
	res = w.do(path)
	if o := w.say(id, "two"); o.Text != "3: two" {
		t.Errorf("%+v", o)
	}
	var kinds []string
	events(t, res, func(e arrived) bool { kinds = append(kinds, e.Kind); return e.Kind != "done" })
	if len(kinds) < 2 || kinds[0] != "snapshot" || kinds[len(kinds)-1] != "done" {
		t.Errorf("who comes back hears %q", kinds)
	}
	w.legal()
}

// What a session begins with stays when the one that it was forked from is deleted, however many newer ones there are.
func TestAForkKeepsItsBeginning(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	w.say(id, "one")
	fork := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions/" + id + "/fork"}).ID
	for i := range 1010 {
		a := &store.Addition{Key: keyOf(fmt.Sprintf("newer-%d", i)), Kind: "session", Time: time.Now().Add(time.Hour), Head: []byte(`{"labels":{"agent":"default"},"root":"other"}`), Steps: [][]byte{[]byte(`{}`)}}
		if err := w.db.Store().AddSteps(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	get[any](w, 204, httpCall{method: "DELETE", path: "/v1/sessions/" + id})
	if err := w.service.Close(t.Context()); err != nil { // it waits for what is under way
		t.Fatal(err)
	}
	if n := len(stored(w)); n == 0 {
		t.Error("what the fork begins with was removed")
	}
	w.restart()
	if o := w.say(fork, "two"); o.Text != "3: two" {
		t.Errorf("the fork goes on with %+v", o)
	}
}
