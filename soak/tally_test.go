package soak

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant"
)

// A tally counts what became of requests, and keeps what should not have.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	wrongs map[string]int
	asked  int
	whole  []string // ids of answers that came to their end
}

// least returns what the upstream has counted for the answers that came to their end.
func (t *tally) least(u *upstream) (sum decant.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range t.whole {
		sum = sum.Add(u.usage[id])
	}
	return sum
}

// add counts an outcome.
func (t *tally) add(q *question, o *outcome) {
	label, fits := q.judge(o)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked++
	t.note(label)
	if o.status == 200 && o.whole && o.fault == "" && q.path == "/v1/messages" {
		t.whole = append(t.whole, o.id)
	}
	if !fits {
		t.wrongly(fmt.Sprintf("%s of %s, fault %q, manner %d: status %d, whole %t, %v; fault %q, refused %q: %.300s",
			q.path, q.who.name, q.fault, q.manner, o.status, o.whole, o.err, o.fault, o.refused, o.body))
	}
}

// most returns what may be booked at most. What broke off is booked by what had come of it: where the upstream had not
// said yet how much that was it is estimated.
func (t *tally) most(u *upstream, least decant.Usage) decant.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	broken := len(u.usage) - len(t.whole)
	prompts := u.booked.Prompt() - least.Prompt()
	return decant.Usage{
		Input: least.Input + 2*prompts, CacheRead: u.booked.CacheRead, CacheWrite: u.booked.CacheWrite,
		Output: u.booked.Output + u.booked.Output - least.Output + 200*broken,
	}
}

func (t *tally) note(label string) {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[label]++
}

// wrong notes what should not have happened.
func (t *tally) wrong(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrongly(text)
}

// did counts something other than a request.
func (t *tally) did(label string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(label)
}

func (t *tally) wrongly(text string) {
	if t.wrongs == nil {
		t.wrongs = map[string]int{}
	}
	if len(t.wrongs) < 100 {
		t.wrongs[text]++
	}
}

// refusals are the statuses with which the gateway itself may refuse, and to whom.
var refusals = map[int]func(*question) bool{
	401: func(q *question) bool { return q.who.name == "nobody" || strings.HasPrefix(q.who.name, "guest") },
	402: func(q *question) bool { return q.who.name == "poor" },
	429: func(q *question) bool { return q.who.name == "hasty" },
	400: func(q *question) bool { return strings.HasPrefix(q.path, "/v1/chat") },
	503: func(q *question) bool { return true }, // no room for the body
}

// upstreamStatus are the statuses of faults before the answer.
var upstreamStatus = map[string]int{"rate_limit": 429, "overloaded": 529, "internal": 500, "reset": 502, "cut": 502, "stream_error": 500}

// judge returns under what an outcome counts, and whether it may be.
func (q *question) judge(o *outcome) (label string, fits bool) {
	label = fmt.Sprint("status ", o.status)
	kind, after, _ := strings.Cut(q.fault, "/")
	// No pour while the database is locked: then a request may be too long, as it would be without Decant, whatever else was to
	// happen to it.
	tooLong := o.fault != "" && o.status == 400 && bytes.Contains(o.body, []byte("prompt is too long"))
	switch {
	case q.manner == leaving || q.manner == falling || q.manner == hurried:
		return "left before the end", o.status/100 != 5
	case o.refused != "":
		allowed, ok := refusals[o.status]
		return fmt.Sprint("refused ", o.status), ok && allowed(q)
	case q.fault != "" && kind != "slow" && !tooLong:
		label = "upstream fault " + q.fault
		if o.status == 200 { // it struck in the middle, or the answer was shorter than that
			return label, after != "" && (!o.whole || o.err == nil)
		}
		return label, o.status == upstreamStatus[kind]
	case o.fault != "":
		return fmt.Sprintf("status %d with x-decant-fault: %s", o.status, faultKind(o.fault)), o.status == 200 && o.whole || tooLong
	case q.session == "vandal":
		return "vandal's " + label, o.status == 200 || o.status/100 == 4
	}
	return label, o.status == 200 && o.whole
}

// faultKind is what a fault is about, without what differs each time.
func faultKind(text string) string {
	text = differs.ReplaceAllString(text, "#")
	return text[:min(len(text), 90)]
}

// judge fails the test for everything that should not have happened.
func (t *tally) judge(tb testing.TB) {
	for _, text := range slices.Sorted(maps.Keys(t.wrongs)) {
		tb.Errorf("%d times: %s", t.wrongs[text], text)
	}
}
