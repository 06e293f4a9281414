// Package purse holds requests against their budgets: a [Purse] knows what the store says was spent, and holds back what
// requests under way may cost at most, so that requests side by side cannot overrun a budget together.
package purse
