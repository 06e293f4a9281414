package chatserver

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/testing/testkit"
)

// While a large session has a run, requests about it do not wait for the room that others need for work; a stop needs none at all.
func TestRequestsBesideALargeRun(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 1)}
	w := newWorld(t, m)
	rooms := w.service.rooms
	rooms.space = hold.New(1<<30, hold.Bulky)
	id := w.session()
	m.let <- struct{}{}
	w.say(id, "one")
	rm := rooms.all[keyOf(id)]
	rm.bytes.Store(hold.Bulky)
	said := make(chan outcome, 1)
	go func() { said <- w.say(id, "two") }()
	testkit.Eventually(t, "the run is under way", func() bool { return rm.current() != nil })

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

// Where there is no room, who announces a large body and does not send it is told so, and does not wait.
func TestABodyThatDoesNotComeTakesNoRoom(t *testing.T) {
	w := newWorld(t, echo)
	rooms := w.service.rooms
	full := rooms.space.Share("")
	full.Add(rooms.space.Limit())
	defer full.Release()
	stalled := errors.New("the body does not come on")
	r := httptest.NewRequest("POST", "/v1/sessions", io.MultiReader(strings.NewReader(`{"title":"`), iotest.ErrReader(stalled)))
	r.ContentLength = smallBody + 1
	_, c, err := rooms.claimed(r, "")
	rooms.end(c)
	if err == nil || err.Error() != stalled.Error() {
		t.Errorf("%v, want %v", err, stalled)
	}
	long := strings.Repeat("long words ", 7000)
	full.Release()
	id := w.session()
	w.say(id, long)
	if ms := get[[]message](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/messages"}); ms[0].Text != long {
		t.Errorf("a large body arrives as %d bytes", len(ms[0].Text))
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
