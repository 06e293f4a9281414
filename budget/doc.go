// Package budget has the limits of what may be spent.
//
// A [Budget] says how much may be spent on a conversation, by a tenant, or by a tenant in a day or a month. A request
// that would exceed one is refused with an [*Error]; before that a [Warning] says that most of it is spent.
package budget
