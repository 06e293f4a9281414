// Package soak runs the program as it is run for weeks, in minutes: a gateway, a strict upstream that fails now and
// then, clients of all manners, and somebody at the command line, all at once on one database.
//
//	go test -timeout 60m -v ./soak -soak 30m
//
// Without -soak it runs at full depth only, for a quarter of an hour, which needs -timeout 30m. At full depth the gateway is built
// with the race detector. DECANT_SOAK_SESSIONS names further recordings, separated as in PATH; DECANT_SOAK_KEEP names a directory
// in which the database and the gateway's log of a run that fails are kept.
package soak

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/testkit"
)

// lasts is how long the soak is to take; 0: as long as the depth says.
var lasts = flag.Duration("soak", 0, "how long to run, at least 20s; 0: 15m at full depth")

// A soak is one run.
type soak struct {
	t          *testing.T
	dir        string
	up         *upstream
	gate       *gate
	recordings []*recording
	tally      tally
	gauge      gauge
	lines      book
	race       bool
}

// window is every model's, small enough for several pours in each recording.
const window = 60_000

func TestSoak(t *testing.T) {
	length := *lasts
	if length == 0 {
		testkit.NeedFull(t, "a gateway that is used for long by many loses nothing, and holds on to nothing; -soak 2m runs it for two minutes")
		length = 15 * time.Minute
	}
	if length < 20*time.Second {
		t.Fatalf("-soak %v: want at least 20s", length)
	}
	s := &soak{t: t, dir: workplace(t), race: testkit.Full()}
	s.recordings = readRecordings(t)
	s.up = newUpstream(t)
	s.gate = startGate(t, s.dir, s.up.url, s.race)
	s.run(length)
}

// workplace returns a directory for all files of a run.
func workplace(t *testing.T) string {
	keep := os.Getenv("DECANT_SOAK_KEEP")
	if keep == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(keep, "soak-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kept in %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// run is a short lap that wakes everything up, then the long one. After each of them, when everybody has left, what
// the process holds is measured.
func (s *soak) run(length time.Duration) {
	lap := min(length/5, time.Minute)
	s.lap(lap)
	before := s.idle(func(*sample) bool { return true })
	s.gauge.begin = len(s.gauge.samples)
	s.lap(length - lap)
	after := s.idle(func(x *sample) bool {
		return x.files <= before.files+filesMore && x.routines <= before.routines+routineMore
	})
	s.gate.stop()
	s.gauge.print(s.t, &s.tally)
	s.gauge.judge(s.t, before, after, length, s.race)
	s.tally.judge(s.t)
	s.gate.judge()
	s.verify()
}

// clientsAtOnce are those who talk at the same time, beside one who does everything wrong, one with the official
// client, one with batches, and the operator.
const clientsAtOnce = 6

// lap lets everybody work for a time, and waits until they have come to an end.
func (s *soak) lap(d time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	defer cancel()
	var clients, others sync.WaitGroup
	for i := range clientsAtOnce {
		clients.Go(func() { newClient(s, i).work(ctx) })
	}
	clients.Go(func() { newClient(s, clientsAtOnce).talk(ctx) })
	clients.Go(func() { newClient(s, clientsAtOnce+1).vandalise(ctx) })
	clients.Go(func() { newClient(s, clientsAtOnce+2).bulk(ctx) })
	others.Go(func() { newOperator(s).work(ctx) })
	others.Go(func() { s.lock(ctx) })
	others.Go(func() { s.watch(ctx) })
	clients.Wait()
	cancel()
	others.Wait()
}

// pause waits for a random part of d, and reports false when the context ends before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(rand.N(d) + 1):
		return true
	case <-ctx.Done():
		return false
	}
}
