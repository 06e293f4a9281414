package command

import (
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/lookup"
)

// A Month is a flag with or without a value: 2026-10, or nothing for the current month.
type Month struct {
	Given bool
	First time.Time // first day, UTC; zero: of the current month
}

// NoValue chooses the current month.
func (m *Month) NoValue() { m.Given = true }

// UnmarshalText reads a month from a flag.
func (m *Month) UnmarshalText(text []byte) (err error) {
	m.Given = true
	if m.First, err = time.Parse("2006-01", string(text)); err != nil {
		return fmt.Errorf("%q is not a month: write 2026-10", text)
	}
	return nil
}

// Period returns the month's first moment and that of the next one.
func (m *Month) Period(now time.Time) lookup.Period {
	first := m.First
	if first.IsZero() {
		first = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return lookup.Period{From: first, To: first.AddDate(0, 1, 0)}
}
