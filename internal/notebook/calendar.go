package notebook

import "time"

// sundays returns the Sundays at midnight after a time, up to now, oldest first.
func sundays(after, now time.Time) []time.Time {
	at := midnight(after.In(now.Location()))
	return between(at.AddDate(0, 0, -int(at.Weekday())), after, now, 0, 7)
}

// firsts returns the first days of months at midnight after a time, up to now, oldest first.
func firsts(after, now time.Time) []time.Time {
	at := midnight(after.In(now.Location()))
	return between(at.AddDate(0, 0, 1-at.Day()), after, now, 1, 0)
}

// mostDue bounds what is caught up: more is not owed for a clock that was wrong by years.
const mostDue = 1000

// between returns the moments after one time and up to another, beginning with the first and so many months and days apart.
func between(first, after, now time.Time, months, days int) (out []time.Time) {
	for at := first; !at.After(now) && len(out) < mostDue; at = at.AddDate(0, months, days) {
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
