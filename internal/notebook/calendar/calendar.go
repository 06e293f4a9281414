// Package calendar says when the work of a notebook is due: each Sunday at midnight, and on the 1st of each month.
package calendar

import "time"

// Weekly returns the Sundays at midnight after a time, up to now, oldest first.
func Weekly(after, now time.Time) []time.Time {
	at := midnight(after.In(now.Location()))
	return between(at.AddDate(0, 0, -int(at.Weekday())), after, now, 0, 7)
}

// Monthly returns the first days of months at midnight after a time, up to now, oldest first.
func Monthly(after, now time.Time) []time.Time {
	at := midnight(after.In(now.Location()))
	return between(at.AddDate(0, 0, 1-at.Day()), after, now, 1, 0)
}

// most bounds what is caught up: more is not owed for a clock that was wrong by years.
const most = 1000

// between returns the moments after one time and up to another, beginning with the first and so many months and days apart.
func between(first, after, now time.Time, months, days int) (out []time.Time) {
	for at := first; !at.After(now) && len(out) < most; at = at.AddDate(0, months, days) {
		if at.After(after) {
			out = append(out, at)
		}
	}
	return out
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}
