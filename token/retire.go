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
