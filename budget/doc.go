// Package budget limits what is spent.
//
// A [Budget] says how much may be spent on a conversation, by a tenant, or by a tenant in a day or a month. A [Purse]
// holds requests against their budgets: it knows what the store says was spent, and holds back what requests under way
// may cost at most, so that requests side by side cannot overrun a budget together.
package budget
