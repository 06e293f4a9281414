package main

import (
	"fmt"
	"time"

	"github.com/alecthomas/kong"
)

// A period is a time, its beginning included and its end not; zero: without one.
type period struct{ from, to time.Time }

// holds reports whether t is in the period.
func (p *period) holds(t time.Time) bool {
	return !t.Before(p.from) && (p.to.IsZero() || t.Before(p.to))
}

// always reports whether the period has neither beginning nor end.
func (p *period) always() bool { return p.from.IsZero() && p.to.IsZero() }

// days returns the first and the last day of the period, empty for no beginning.
func (p *period) days(now time.Time) (first, last string) {
	if !p.from.IsZero() {
		first = p.from.Format(time.DateOnly)
	}
	if !p.to.IsZero() && p.to.Before(now) {
		now = p.to.Add(-1)
	}
	return first, now.Format(time.DateOnly)
}

// A month is a flag with or without a value: 2026-10, or nothing for the running month.
type month struct {
	given bool
	first time.Time // day, UTC; zero: of the running month
}

// Decode reads the flag. What begins with a hyphen is the next flag.
func (m *month) Decode(ctx *kong.DecodeContext) error {
	m.given = true
	if next := ctx.Scan.Peek(); !next.IsValue() {
		return nil
	}
	var text string
	if err := ctx.Scan.PopValueInto("month", &text); err != nil {
		return err
	}
	var err error
	if m.first, err = time.Parse("2006-01", text); err != nil {
		return fmt.Errorf("%q is not a month: write 2026-10", text)
	}
	return nil
}

// period returns the month's first moment and that of the next one.
func (m *month) period(now time.Time) period {
	first := m.first
	if first.IsZero() {
		first = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return period{first, first.AddDate(0, 1, 0)}
}
