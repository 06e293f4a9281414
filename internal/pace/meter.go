package pace

import "time"

// What limits count.
const (
	calls = iota
	input // tokens
	output
	kinds
)

// amounts are how much of each.
type amounts [kinds]float64

// A meter is one limit and what is left of it.
type meter struct {
	known bool
	limit float64
	left  float64   // less what calls under way may use
	at    time.Time // of left
	reset time.Time // when all is there again
	flows bool      // it fills steadily until then, not all at once

	flying, ended float64 // used by calls under way, and by those that are over
}

// A reading is a limit in a response.
type reading struct {
	told        bool
	limit, left float64
	reset       time.Time
	flows       bool
}

// room reports whether there is room for an amount, and if not, when there may be; zero means when another
// call ends. An amount above the limit has room when the whole limit is free.
func (m *meter) room(need float64, now time.Time, others bool) (time.Time, bool) {
	if !m.known || need == 0 {
		return time.Time{}, true
	}
	m.fill(now)
	if need = min(need, m.limit); m.left >= need {
		return time.Time{}, true
	}
	if now.Before(m.reset) {
		if rate := m.rate(); rate > 0 {
			return now.Add(time.Duration((need - m.left) / rate * float64(time.Second))), false
		}
		return m.reset, false
	}
	if others {
		return time.Time{}, false
	}
	return time.Time{}, true // nobody else counts on it, and the service may know better
}

// fill adds what was refilled since the last time.
func (m *meter) fill(now time.Time) {
	if !now.Before(m.reset) {
		m.left, m.at = m.limit-m.flying, now
		return
	}
	if rate := m.rate(); rate > 0 {
		m.left, m.at = m.left+rate*now.Sub(m.at).Seconds(), now
	}
}

// rate returns the refill per second; 0 means all at once.
func (m *meter) rate() float64 {
	if !m.flows {
		return 0
	}
	return m.limit / time.Minute.Seconds()
}

// take applies a reading. It may or may not include calls under way, and those that ended since its call
// began (between). They are subtracted, so that what is left is never overestimated.
func (m *meter) take(r reading, between float64, now time.Time) {
	if m.known && r.reset.Before(m.reset) && !m.flows {
		return // of a time that is over
	}
	left := r.left - m.flying - between
	if m.known && r.reset.Equal(m.reset) && !m.flows {
		left = max(left, min(m.left, r.left-m.flying))
	}
	m.known, m.limit, m.left, m.at, m.reset, m.flows = true, r.limit, left, now, r.reset, r.flows
}
