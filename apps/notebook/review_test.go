package notebook

import (
	"testing"
	"time"

	"github.com/decantdev/decant/memory"
)

// TestLifeOfAnObservation goes through the life cycle: observed, confirmed, escalated or archived. Age counts from the
// last confirmation, and confirmations come before age.
func TestLifeOfAnObservation(t *testing.T) {
	const day = 24 * time.Hour
	epoch := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	item := func(kind memory.Kind, times int, last time.Time) memory.Item {
		return memory.Item{ID: "m:1", Kind: kind, Text: "reads code before it changes it", Created: epoch, Confirmed: last, Times: times}
	}
	for _, c := range []struct {
		name string
		it   memory.Item
		now  time.Time
		want memory.State
	}{
		{"New", item(memory.KindObservation, 0, epoch), epoch, memory.Active},
		{"28Days", item(memory.KindObservation, 0, epoch), epoch.Add(28 * day), memory.Active},
		{"29Days", item(memory.KindObservation, 0, epoch), epoch.Add(29 * day), memory.Archived},
		{"4ConfirmationsAnd29Days", item(memory.KindObservation, 4, epoch.Add(5*day)), epoch.Add(29 * day), memory.Active},
		{"4ConfirmationsLongAgo", item(memory.KindObservation, 4, epoch.Add(5*day)), epoch.Add(34 * day), memory.Archived},
		{"5Confirmations", item(memory.KindObservation, 5, epoch.Add(5*day)), epoch.Add(6 * day), memory.Escalated},
		{"5ConfirmationsLongAgo", item(memory.KindObservation, 5, epoch.Add(5*day)), epoch.Add(60 * day), memory.Escalated},
		{"RuleLongAgo", item(memory.KindRule, 0, epoch), epoch.Add(60 * day), memory.Active},
	} {
		if got := dueAfter(c.it, c.now, 5, 28*day); got != c.want {
			t.Errorf("%s: %s is due, want %s", c.name, got, c.want)
		}
	}
	old, rule, err := escalated(item(memory.KindObservation, 5, epoch.Add(day)), "m:9", epoch.Add(2*day))
	if err != nil || old.State() != memory.Escalated || rule.State() != memory.Active || old.Became != rule.ID || rule.From != old.ID || rule.Times != 5 || rule.Kind != memory.KindRule {
		t.Errorf("escalated: %+v, %+v, %v", old, rule, err)
	}
	if _, _, err := escalated(old, "m:10", epoch); err == nil {
		t.Error("an observation escalates twice")
	}
}
