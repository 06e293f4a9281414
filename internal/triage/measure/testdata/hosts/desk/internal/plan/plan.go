// Package plan knows what customers have paid for.
package plan

import (
	"time"

	"github.com/acme/desk/internal/report"
)

// speeds is how many tickets an hour are worked on.
var speeds = map[string]int{"basic": 2, "gold": 10}

// prices are in cents.
var prices = map[string]int{"basic": 900, "gold": 4900}

// regions are the plans of a region.
var regions = map[string]*Region{"eu": {Name: "Europe", Seats: 4}, "us": {Name: "America", Seats: 9}}

// A Region is where customers are.
type Region struct {
	Name  string
	Seats int
}

// Hours returns how long some tickets take.
func Hours(plan string, tickets int) int {
	speed := speeds[plan]
	if speed == 0 {
		return tickets
	}
	return tickets / speed
}

// Share returns how many seats one unit of price buys.
func Share(plan string, seats int) int {
	price := prices[plan]
	if price == 0 {
		return seats
	}
	return seats * 1000 / price
}

// RegionName returns the name of a region.
func RegionName(id string) string {
	r := regions[id]
	if r == nil {
		return "elsewhere"
	}
	return r.Name
}

// Seats returns the seats of a region.
func Seats(id string, used int) int {
	region := regions[id]
	if region == nil {
		return 0
	}
	return region.Seats - used
}

// Range returns the seats from one to another one.
func Range(from, to int) ([]int, error) {
	if from > to {
		return nil, report.Errorf("BadRange", "from %d to %d is no range", from, to)
	}
	return make([]int, to-from), nil
}

// Upgrade returns what a change of plans costs.
func Upgrade(old, wanted string) (int, error) {
	if prices[wanted] < prices[old] {
		return 0, report.Errorf("Downgrade", "%s is less than %s", wanted, old)
	}
	return prices[wanted] - prices[old], nil
}

// A Till takes the money.
type Till struct {
	timeout time.Duration
}

// NewTill returns a till.
func NewTill() *Till { return &Till{timeout: 4 * time.Second} }

// Pay pays.
func (t *Till) Pay() error {
	return within(30*time.Millisecond, t.timeout)
}

// Refund gives back what was paid.
func (t *Till) Refund() error {
	refundTimeout := 6 * time.Second
	return within(30*time.Millisecond, refundTimeout)
}

// within fails where something takes longer than it may.
func within(takes, deadline time.Duration) error {
	done := time.NewTimer(takes)
	select {
	case <-done.C:
		return nil
	case <-time.After(deadline):
		return report.Errorf("PaymentTimeout", "no answer: timed out after %v", deadline)
	}
}

// Audit asks the bank.
func Audit() error {
	const auditDeadline = 5 * time.Second
	return within(30*time.Millisecond, auditDeadline)
}
