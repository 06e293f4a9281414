package main

import (
	"fmt"
	"sync"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// A tally counts what has become of the requests of one gateway, and tells the board of its pours. It is safe for
// concurrent use.
type tally struct {
	*notice.Board

	mu                    sync.Mutex
	requests, pours, poor int
	spent, saved          store.Money // saved: on requests that could have been sent otherwise
}

// book counts what was booked.
func (t *tally) book(spends []store.Spend) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range spends {
		s := &spends[i]
		t.spent += s.Cost
		switch {
		case s.Own:
			t.saved -= s.Cost
			continue
		case !s.Over:
			t.saved += s.Bare - s.Cost
		}
		t.requests++
	}
}

// Poured counts a pour, and tells the board of it.
func (t *tally) Poured(x *engine.PourEvent) {
	t.mu.Lock()
	if x.Reason != "" {
		t.pours++
	}
	if cp := x.Checkpoint; cp != nil && x.Preset != nil && cp.Score < x.Preset.Summary.MinScore {
		t.poor++
	}
	t.mu.Unlock()
	t.Board.Poured(x)
}

// String sums it up in a line, empty when there was no request.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests == 0 {
		return ""
	}
	pours := report.Count(t.pours, "pour")
	if t.poor > 0 {
		pours += fmt.Sprintf(" (%s that say too little: decant show last)", report.Count(t.poor, "record"))
	}
	return fmt.Sprintf("%s; %s, %s; decant report says more", report.Status(t.spent.USD(), t.saved.USD()), report.Count(t.requests, "request"), pours)
}
