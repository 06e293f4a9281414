package chatserver

import (
	"testing"

	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/testing/testkit"
)

// A run of a large session leaves room to requests about the session, and a stop needs none.
func TestALongRunLeavesRoom(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 1)}
	w := newWorld(t, m)
	rooms := w.service.rooms
	rooms.space = hold.New(1<<30, hold.Bulky)
	id := w.session()
	m.let <- struct{}{}
	w.say(id, "one")
	rooms.all[keyOf(id)].bytes.Store(hold.Bulky)
	said := make(chan outcome, 1)
	go func() { said <- w.say(id, "two") }()
	testkit.Eventually(t, "the model is asked", func() bool { return len(w.model.Log.Entries()) == 2 })

	path := "/v1/sessions/" + id
	get[[]message](w, 200, httpCall{method: "GET", path: path + "/messages"})
	get[map[string]bool](w, 202, httpCall{method: "POST", path: path + "/messages", body: `{"text":"and this"}`})
	full := rooms.space.Share("")
	full.Add(rooms.space.Limit())
	get[any](w, 204, httpCall{method: "POST", path: path + "/stop"})
	full.Release()
	if o := <-said; o.Stop != "cancelled" {
		t.Errorf("%+v", o)
	}
}

// Rooms that are too large together go, but for those that a request uses or that somebody listens to.
func TestARoomInUseStays(t *testing.T) {
	w := newWorld(t, echo)
	rooms := w.service.rooms
	open := func() (*room, *claim) {
		ctx, c := rooms.claim(t.Context(), "")
		rm, err := rooms.room(ctx, keyOf(w.session()))
		if err != nil {
			t.Fatal(err)
		}
		return rm, c
	}
	rm, c := open()
	rm.bytes.Store(mostRooms)
	stays := func() bool { // when another one is opened
		_, c := open()
		rooms.end(c)
		return rooms.all[rm.key] == rm
	}
	if !stays() {
		t.Error("a room goes that a request uses")
	}
	rooms.end(c)
	if stays() {
		t.Error("a room stays that nobody uses")
	}
	if rm.users != 0 {
		t.Errorf("%d users are left", rm.users)
	}
}
