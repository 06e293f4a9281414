package main

import (
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"github.com/decantdev/decant/internal/lookup"
)

// A month is a flag with or without a value: 2026-10, or nothing for the current month.
type month struct {
	given bool
	first time.Time // first day, UTC; zero: of the current month
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
func (m *month) period(now time.Time) lookup.Period {
	first := m.first
	if first.IsZero() {
		first = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return lookup.Period{From: first, To: first.AddDate(0, 1, 0)}
}
