package lookup

import "time"

// A Period is a time, its beginning included and its end not. A zero time means no beginning or no end.
type Period struct{ From, To time.Time }

// holds reports whether t is in the period.
func (p *Period) holds(t time.Time) bool {
	return !t.Before(p.From) && (p.To.IsZero() || t.Before(p.To))
}

// always reports whether the period has neither beginning nor end.
func (p *Period) always() bool { return p.From.IsZero() && p.To.IsZero() }

// Days returns the first and the last day of the period as they are written, YYYY-MM-DD; empty for no beginning.
func (p *Period) Days(now time.Time) (first, last string) {
	if !p.From.IsZero() {
		first = p.From.Format(time.DateOnly)
	}
	if !p.To.IsZero() && p.To.Before(now) {
		now = p.To.Add(-1)
	}
	return first, now.Format(time.DateOnly)
}
