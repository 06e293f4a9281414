package token

import (
	"fmt"
	"time"
)

// notice is the time before a model's retirement at which Decant warns. Anthropic announces retirements at
// least 60 days ahead.
const notice = 60 * 24 * time.Hour

// Retirement says that the model is retired at t or will be within 60 days: "claude-sonnet-4-5 retires on
// 2026-11-30, in 3 days". It is empty for other models.
func (m *Model) Retirement(t time.Time) string {
	day := m.Retires.Format(time.DateOnly)
	switch left := m.Retires.Sub(t); {
	case m.Retires.IsZero() && m.Status != "retired", left > notice:
		return ""
	case m.Retires.IsZero():
		return m.ID + " is retired: its provider refuses requests"
	case left <= 0:
		return fmt.Sprintf("%s is retired since %s: its provider refuses requests", m.ID, day)
	case left <= 24*time.Hour:
		return fmt.Sprintf("%s retires on %s, within a day", m.ID, day)
	default:
		return fmt.Sprintf("%s retires on %s, in %d days", m.ID, day, (left+24*time.Hour-1)/(24*time.Hour))
	}
}

// oldPrice is the age from which a price is worth another look: prices have changed every few months.
const oldPrice = 90 * 24 * time.Hour

// Outdated says that the model's prices were last looked up long before t: "the prices of gpt-5.5 were last verified on
// 2026-11-20". It is empty for prices that are not so old, and for those of which that is not known.
func (m *Model) Outdated(t time.Time) string {
	if m.Verified.IsZero() || t.Sub(m.Verified) < oldPrice {
		return ""
	}
	return fmt.Sprintf("the prices of %s were last verified on %s", m.ID, m.Verified.Format(time.DateOnly))
}
