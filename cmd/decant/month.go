package main

import (
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/lookup"
)

// A month is a flag with or without a value: 2026-10, or nothing for the current month.
type month struct {
	given bool
	first time.Time // first day, UTC; zero: of the current month
}

// NoValue chooses the current month.
func (m *month) NoValue() { m.given = true }

// UnmarshalText reads a month from a flag.
func (m *month) UnmarshalText(text []byte) (err error) {
	m.given = true
	if m.first, err = time.Parse("2006-01", string(text)); err != nil {
		return fmt.Errorf("%q is not a month: write 2026-10", text)
	}
	return nil
}

// period returns the month's first moment and that of the next one.
func (m *month) period(now time.Time) lookup.Period {
	first := m.first
	if first.IsZero() {
		first = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return lookup.Period{From: first, To: first.AddDate(0, 1, 0)}
}
