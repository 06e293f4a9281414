package triage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A desk makes batches that end as they are told to.
type desk struct {
	sent   [][]string // bodies, batch by batch
	ids    [][]string
	fails  map[string]provider.BatchResult // by body
	lost   bool                            // the answer to the next submission is lost
	worked bool                            // batches have ended
}

func (d *desk) Submit(_ context.Context, items []provider.BatchItem) (*provider.Batch, error) {
	var bodies, ids []string
	for _, it := range items {
		bodies, ids = append(bodies, string(it.Body)), append(ids, it.ID)
	}
	d.sent, d.ids = append(d.sent, bodies), append(d.ids, ids)
	if d.lost {
		d.lost = false
		return nil, errors.New("the connection broke off")
	}
	return d.Batch(context.Background(), fmt.Sprint("b", len(d.sent)-1))
}

func (d *desk) Batch(_ context.Context, id string) (*provider.Batch, error) {
	n := 0
	fmt.Sscanf(id, "b%d", &n)
	return &provider.Batch{ID: id, Created: time.Now(), Ended: d.worked, Requests: len(d.sent[n])}, nil
}

func (d *desk) Batches(context.Context, time.Time) (out []provider.Batch, err error) {
	for i := range d.sent {
		b, _ := d.Batch(context.Background(), fmt.Sprint("b", len(d.sent)-1-i))
		out = append(out, *b)
	}
	return out, nil
}

func (d *desk) Results(_ context.Context, id string) (out []provider.BatchResult, err error) {
	n := 0
	fmt.Sscanf(id, "b%d", &n)
	for i, body := range d.sent[n] {
		r, failed := d.fails[body]
		if !failed {
			r = provider.BatchResult{Outcome: provider.BatchSucceeded, Answer: &provider.Answer{Text: "to " + body, Content: []byte("[]")}}
		}
		r.ID = d.ids[n][i]
		out = append(out, r)
	}
	return out, nil
}

// A queueRoom opens the queue of one run, as often as processes do.
type queueRoom struct {
	*testing.T
	db store.Store
	*desk
}

func newRoom(t *testing.T) *queueRoom {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &queueRoom{t, db, &desk{worked: true, fails: map[string]provider.BatchResult{}}}
}

func (r *queueRoom) open() *batchQueue {
	r.Helper()
	out, err := openQueue(r.Context(), Options{Journals: r.db}, r.desk, "r")
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func ask(of *batchQueue, body string) (string, error) {
	a, err := of.ask("s"+body, "h", &provider.Turn{Body: []byte(body)})
	if err != nil {
		return "", err
	}
	return a.Text, nil
}

// What has failed is sent again alone, three times in all, and the reason is told; what would be refused again is not.
func TestAFailedHalfIsSentAgainAlone(t *testing.T) {
	r := newRoom(t)
	r.fails["2"] = provider.BatchResult{Outcome: provider.BatchExpired, Err: errors.New("it has expired")}
	r.fails["3"] = provider.BatchResult{Outcome: provider.BatchErrored, Err: &provider.Failure{Status: 400, Kind: "invalid_request_error", Refused: true}}
	of := r.open()
	for _, body := range []string{"1", "2", "3"} {
		if _, err := ask(of, body); !errors.Is(err, ErrPending) {
			t.Fatal(err)
		}
	}
	for range 5 {
		if _, err := of.submit(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		of = r.open()
		if s, err := of.collect(t.Context()); err != nil || !s.Ready {
			t.Fatal(s, err)
		}
	}
	if want := [][]string{{"1", "2", "3"}, {"2"}, {"2"}}; fmt.Sprint(r.sent) != fmt.Sprint(want) {
		t.Errorf("sent %v, want %v", r.sent, want)
	}
	if text, err := ask(of, "1"); err != nil || text != "to 1" {
		t.Error(text, err)
	}
	if _, err := ask(of, "2"); !errors.Is(err, investigate.ErrGivenUp) {
		t.Error(err)
	}
	if _, err := ask(of, "3"); !errors.Is(err, investigate.ErrGivenUp) || !errors.Is(err, provider.ErrRefused) {
		t.Error(err)
	}
	if b := of.ended(); len(b) != 3 || len(b[0].Failed) != 2 || b[0].Failed[0] != "it has expired" {
		t.Errorf("%+v", b)
	}
}

// Where the answer to a submission is lost, the batch is found by its ids, and waits until these can be seen.
func TestABatchIsFoundAgain(t *testing.T) {
	r := newRoom(t)
	of := r.open()
	ask(of, "1")
	r.lost, r.worked = true, false
	if _, err := of.submit(t.Context(), 0); err == nil {
		t.Fatal("no error")
	}
	of = r.open()
	if s, err := of.collect(t.Context()); err != nil || s.Ready || s.Note == "" {
		t.Errorf("%+v, %v", s, err)
	}
	r.worked = true
	of = r.open()
	if s, err := of.collect(t.Context()); err != nil || !s.Ready || len(r.sent) != 1 {
		t.Errorf("%+v, %v, sent %v", s, err, r.sent)
	}
	if text, err := ask(of, "1"); err != nil || text != "to 1" {
		t.Error(text, err)
	}
	if !slices.Equal(r.sent[0], []string{"1"}) {
		t.Errorf("sent %v", r.sent)
	}
}

// Two phases at once: one of them loses, before anything is sent.
func TestOnePhaseAtATime(t *testing.T) {
	r := newRoom(t)
	a, b := r.open(), r.open()
	ask(a, "1")
	ask(b, "1")
	if _, err := a.submit(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.submit(t.Context(), 0); err == nil || len(r.sent) != 1 {
		t.Errorf("%v, sent %v", err, r.sent)
	}
}
