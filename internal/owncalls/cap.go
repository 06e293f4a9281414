package owncalls

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
)

// A Cap limits the own calls of each tenant. Fields that are zero have the values of [DefaultCap]; negative ones mean that
// there is no such limit.
type Cap struct {
	Calls int           // within In; after that many there are none for Rest
	In    time.Duration // at least as long as nothing
	Rest  time.Duration
	Hour  float64 // dollars within an hour, what is under way counted at the most that it may cost
	Day   float64 // dollars within 24 hours, by other processes with the same ledger as well

	// Session is in dollars for all calls about a conversation, by other processes as well.
	Session float64
}

// DefaultCap is the cap where nothing else is said: 24 calls in ten minutes, then none for half an hour; five dollars in
// an hour, and twenty in a day, however many of them for one conversation.
var DefaultCap = Cap{Session: -1, Calls: 24, In: 10 * time.Minute, Rest: 30 * time.Minute, Hour: 5, Day: 20}

// orDefault returns the cap with what is zero replaced.
func (c Cap) orDefault() Cap {
	d := DefaultCap
	for _, f := range []struct{ own, def *time.Duration }{{&c.In, &d.In}, {&c.Rest, &d.Rest}} {
		if *f.own == 0 {
			*f.own = *f.def
		}
	}
	for _, f := range []struct{ own, def *float64 }{{&c.Hour, &d.Hour}, {&c.Day, &d.Day}, {&c.Session, &d.Session}} {
		if *f.own == 0 {
			*f.own = *f.def
		}
	}
	if c.Calls == 0 {
		c.Calls = d.Calls
	}
	return c
}

// half returns half of the limits.
func (c Cap) half() Cap {
	if c.Calls > 0 {
		c.Calls = max(1, c.Calls/2)
	}
	c.Hour, c.Day = c.Hour/2, c.Day/2
	return c
}

// A meter holds the calls of all tenants against a cap. It is safe for concurrent use.
type meter struct {
	cap Cap
	now func() time.Time

	mu      sync.Mutex
	tenants map[string]*count
	swept   time.Time
}

// A count is what is remembered of a tenant's calls.
type count struct {
	calls []*entry // of the last day, oldest first
	rest  time.Time
}

// An entry is a call, and what it cost; while it is under way, the most that it may cost.
type entry struct {
	at    time.Time
	about string // id of the conversation
	money store.Money
	ended bool // money is what it cost, and the ledger has it
}

const day = 24 * time.Hour

func newMeter(c Cap, now func() time.Time) *meter {
	return &meter{cap: c.orDefault(), now: now, tenants: map[string]*count{}}
}

// enter counts a call that may cost so much, or returns an error that wraps ErrResting.
func (m *meter) enter(of store.Key, most store.Money) (*entry, error) {
	return m.count(of, most, false)
}

// spare is enter for a call that others go before: it is refused where half of the calls have been made, or half of the
// money has been spent, and that is no reason to make none for a while.
func (m *meter) spare(of store.Key, most store.Money) (*entry, error) {
	return m.count(of, most, true)
}

func (m *meter) count(of store.Key, most store.Money, spare bool) (*entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.sweep(now)
	c := m.tenants[of.Tenant]
	if c == nil {
		c = &count{}
		m.tenants[of.Tenant] = c
	}
	c.forget(now)
	if now.Before(c.rest) {
		return nil, fmt.Errorf("%w: none until %s", ErrResting, c.rest.UTC().Format("15:04 UTC"))
	}
	limits := m.cap
	if spare {
		limits = limits.half()
	}
	if why := limits.over(c, now, most); why != "" {
		if len(c.calls) > 0 && !spare { // it is not this one alone
			c.rest = now.Add(m.cap.Rest)
		}
		return nil, fmt.Errorf("%w of %s", ErrResting, why)
	}
	e := &entry{at: now, about: of.ID, money: most}
	c.calls = append(c.calls, e)
	return e, nil
}

// over returns the limit that another call would exceed, empty when it may be made.
func (c Cap) over(of *count, now time.Time, most store.Money) string {
	if n, _ := of.since(now.Add(-c.In)); c.Calls >= 0 && n >= c.Calls {
		return fmt.Sprintf("%d in %v", c.Calls, c.In)
	}
	for _, l := range []struct {
		usd    float64
		in     time.Duration
		period string
	}{{c.Hour, time.Hour, "an hour"}, {c.Day, day, "a day"}} {
		if _, spent := of.since(now.Add(-l.in)); l.usd >= 0 && (spent+most).USD() > l.usd {
			return fmt.Sprintf("$%.2f in %s", l.usd, l.period)
		}
	}
	return ""
}

// leave sets what a call has cost.
func (m *meter) leave(e *entry, cost store.Money) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.money, e.ended = cost, true
}

// underway returns what the calls of a tenant that have not ended may cost, those about one conversation where it has an id.
func (m *meter) underway(of store.Key) (sum store.Money) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.tenants[of.Tenant].calls {
		if !e.ended && (of.ID == "" || e.about == of.ID) {
			sum += e.money
		}
	}
	return sum
}

// sweep forgets tenants of whom there is nothing to remember, once in a while. The meter is locked.
func (m *meter) sweep(now time.Time) {
	if now.Sub(m.swept) < time.Hour {
		return
	}
	m.swept = now
	for name, c := range m.tenants {
		if c.forget(now); len(c.calls) == 0 && !now.Before(c.rest) {
			delete(m.tenants, name)
		}
	}
}

// forget drops calls of more than a day ago.
func (c *count) forget(now time.Time) {
	c.calls = slices.DeleteFunc(c.calls, func(e *entry) bool { return now.Sub(e.at) >= day })
}

// since returns how many calls were made after a time, and what they cost.
func (c *count) since(t time.Time) (n int, sum store.Money) {
	for _, e := range c.calls {
		if e.at.After(t) {
			n++
			sum += e.money
		}
	}
	return n, sum
}
