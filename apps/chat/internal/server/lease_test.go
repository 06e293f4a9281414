package chatserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// beside begins a second service on the database of a world, whose clock is late by so much.
func (w *world) beside(late time.Duration) *world {
	w.Helper()
	o := *w.service.opts
	o.Now = func() time.Time { return time.Now().Add(late) }
	s, err := New(o)
	if err != nil {
		w.Fatal(err)
	}
	other := *w
	other.service, other.http = s, httptest.NewServer(s)
	w.Cleanup(func() {
		other.http.CloseClientConnections()
		other.http.Close()
		if err := s.Close(w.Context()); err != nil {
			w.Error(err)
		}
	})
	return &other
}

// A second service on a database, as at a rolling restart, leaves the runs of the first alone while that is alive, and goes on
// with those that it leaves.
func TestTwoServicesOnOneDatabase(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 10)}
	w := newWorld(t, m)
	if err := w.service.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := w.session()
	said := make(chan outcome, 1)
	go func() { said <- w.say(id, "one") }()
	testkit.Eventually(t, "the model is asked", func() bool { return len(w.model.Log.Entries()) == 1 })

	second := w.beside(0)
	if err := second.service.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/messages", "/continue"} {
		e := get[map[string]map[string]string](second, http.StatusConflict, httpCall{method: "POST", path: "/v1/sessions/" + id + path, body: `{"text":"two"}`})
		if e["error"]["type"] != "running" {
			t.Errorf("%s at the second: %v", path, e)
		}
	}
	m.let <- struct{}{}
	if o := <-said; o.Text != "1: one" {
		t.Errorf("the first: %+v", o)
	}
	m.let <- struct{}{}
	if o := second.say(id, "two"); o.Text != "3: two" {
		t.Errorf("the second, when the run has ended: %+v", o)
	}
	w.legal()
}

// A service that has ended without a word is alive for a while, and then others go on with its runs.
func TestAServiceThatHasDied(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	dead := newLeases(w.service.opts)
	if err := dead.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.say(id, "one")
	k := keyOf(id)
	j, err := w.db.Store().Journal(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	head := []byte(`{"title":"one","running":true,"owner":"` + dead.own + `","root":"` + id + `","labels":{"agent":"default"}}`)
	if err := w.db.Store().AddSteps(t.Context(), &store.Addition{Key: k, Length: j.Length, Head: head}); err != nil {
		t.Fatal(err)
	}
	if err := w.beside(leaseLasts/2).service.rooms.elsewhere(t.Context(), k); err != errElsewhere {
		t.Errorf("while it is alive: %v", err)
	}
	late := w.beside(2 * leaseLasts).service.rooms
	before := map[string]bool{dead.own: true}
	if err := late.elsewhere(t.Context(), k); err != nil {
		t.Errorf("later: %v", err)
	}
	if err := late.leases.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now, err := late.tended(t.Context(), before); err != nil || len(now) != 0 {
		t.Errorf("alive are %v, %v", now, err)
	}
	if _, err := w.db.Store().Journal(t.Context(), dead.key()); err == nil {
		t.Error("what it has left is still there")
	}
}
