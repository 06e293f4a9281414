package chatserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// beside begins a second service on the database of a world.
func (w *world) beside(change func(*Options)) *world {
	w.Helper()
	o := *w.service.opts
	change(&o)
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

// A clock goes on when a test says so.
type clock struct{ at atomic.Int64 }

func (c *clock) add(d time.Duration) { c.at.Add(int64(d)) }
func (c *clock) now() time.Time      { return time.Unix(0, c.at.Load()) }

// dies has a session begin a run of a service of that name, which writes nothing more.
func (w *world) dies(id, owner string) {
	w.Helper()
	k := keyOf(id)
	j, err := w.db.Store().Journal(w.Context(), k)
	if err == nil {
		err = w.db.Store().AddSteps(w.Context(), &store.Addition{
			Key: k, Length: j.Length,
			Head:  []byte(`{"title":"one","running":true,"owner":"` + owner + `","root":"` + id + `","labels":{"agent":"default"}}`),
			Steps: [][]byte{[]byte(`{"began":true,"messages":[{"role":"user","content":[{"type":"text","text":"two"}]}]}`)},
		})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// A second service on a database, as at a rolling restart, leaves the runs of the first alone while that is alive, and goes on
// with those that it leaves.
func TestTwoServicesOnOneDatabase(t *testing.T) {
	m := slowly{Model: echo, let: make(chan struct{}, 10)}
	w := newWorld(t, m)
	w.goOn()
	id := w.session()
	said := make(chan outcome, 1)
	go func() { said <- w.say(id, "one") }()
	testkit.Eventually(t, "the model is asked", func() bool { return len(w.model.Log.Entries()) == 1 })

	second := w.beside(func(*Options) {})
	second.goOn()
	for _, c := range []httpCall{
		{method: "POST", path: "/messages", body: `{"text":"two"}`}, {method: "POST", path: "/continue"}, {method: "POST", path: "/stop"},
		{method: "PATCH", body: `{"title":"mine"}`}, {method: "PATCH", body: `{"archived":true}`}, {method: "DELETE"},
	} {
		c.path = "/v1/sessions/" + id + c.path
		if e := get[map[string]map[string]string](second, http.StatusConflict, c); e["error"]["type"] != "running" {
			t.Errorf("%s %s at the second: %v", c.method, c.path, e)
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

// A service that has ended without a word is alive for a while, and then others go on with its runs. Whose clock says what does
// not matter.
func TestAServiceThatHasDied(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	w.say(id, "one")
	dead, here := newLeases(w.service.opts), &clock{}
	w.dies(id, dead.own)
	second := w.beside(func(o *Options) { o.Now = here.now })
	rooms, k := second.service.rooms, keyOf(id)
	for _, step := range []struct {
		after   time.Duration
		touched bool
		want    error
	}{
		{0, true, errElsewhere},
		{leaseLasts, false, errElsewhere},
		{leaseLasts / 2, true, errElsewhere},
		{leaseLasts, false, errElsewhere},
		{1, false, nil},
		{0, true, errElsewhere}, // it was only slow
		{leaseLasts + 1, false, nil},
	} {
		if here.add(step.after); step.touched {
			if err := dead.touch(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := rooms.elsewhere(t.Context(), k); err != step.want {
			t.Errorf("after %v more: %v, want %v", step.after, err, step.want)
		}
	}
	if _, err := w.db.Store().Journal(t.Context(), dead.key()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what it has left is still there: %v", err)
	}
	if err := rooms.tended(t.Context()); err != nil {
		t.Fatal(err)
	}
	rooms.tending.Wait()
	rooms.runs.Wait()
	if o := second.say(id, "three"); o.Text != "5: three" {
		t.Errorf("after its run: %+v", o)
	}
	w.legal()
}

// A session whose calls wait is nobody's: any service may be told whether they are allowed.
func TestWhatWaitsIsNobodys(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return uses("toolu_1", "look", `{}`)
		}
		return says("seen")
	}), func(w *world) {
		w.tools = []agent.Tool{{Name: "look", Ask: true, Run: func(context.Context, *agent.Call) (agent.Result, error) { return agent.Result{Text: "a"}, nil }}}
	})
	w.goOn()
	id, second := w.session(), w.beside(func(*Options) {})
	get[[]message](second, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/messages"}) // before there is a call
	if o := w.say(id, "look"); o.Stop != agent.StopApproval {
		t.Fatalf("%+v", o)
	}
	o := get[outcome](second, 200, httpCall{method: "POST", path: "/v1/sessions/" + id + "/approvals/toolu_1", body: `{"kind":"allow"}`})
	if o.Text != "seen" {
		t.Errorf("at the second: %+v", o)
	}
	w.legal()
}

// A troubledStore fails, or takes its time, when it is asked for tenants or to write.
type troubledStore struct {
	store.Store
	tenants, write func() error
}

func (s *troubledStore) Tenants(ctx context.Context) ([]string, error) {
	if err := s.tenants(); err != nil {
		return nil, err
	}
	return s.Store.Tenants(ctx)
}

func (s *troubledStore) AddSteps(ctx context.Context, a *store.Addition) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.AddSteps(ctx, a)
}

// A service that cannot take its lease, or not go on with runs, tries again, and keeps its lease meanwhile.
func TestALeaseInTrouble(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	w.dies(id, "")
	trouble := errors.New("the database is away")
	began, end := make(chan struct{}), make(chan struct{})
	fail := func() error { return trouble }
	db := &troubledStore{w.db.Store(), fail, fail}
	second := w.beside(func(o *Options) { o.Store = db })
	rooms := second.service.rooms
	lease := func() string {
		j, err := w.db.Store().Journal(t.Context(), rooms.leases.key())
		if err != nil {
			t.Fatal(err)
		}
		return string(j.Head)
	}
	if err := second.service.Continue(); !errors.Is(err, trouble) {
		t.Errorf("%v, want that it cannot be written", err)
	}
	db.write = func() error { return nil }
	tend := func() {
		if err := rooms.tended(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tend()
	rooms.resuming.Lock() // it has failed
	db.tenants = func() error { close(began); <-end; return nil }
	rooms.resuming.Unlock()
	before := lease()
	tend()
	<-began
	tend()
	if lease() == before {
		t.Error("while runs are gone on with the lease is not kept")
	}
	close(end)
	rooms.resumed() // it has not
	rooms.runs.Wait()
	if o := second.say(id, "three"); o.Text != "3: three" {
		t.Errorf("after the run that was left: %+v", o)
	}
	w.legal()
}
