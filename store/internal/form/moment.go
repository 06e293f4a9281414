package form

import "time"

// Micros returns t as it is stored.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Moment returns the time that Micros stored.
func Moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Day returns the day of t since 1970, in UTC.
func Day(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix() / 86400
}
