// Package outbox holds answers that wait to be archived, by conversation, in the order in which they came.
//
// An answer waits until requests leave time for it, until it has waited for as long as it may, or until somebody waits
// for it ([Box.Wait]). So the answers of an agent that thinks between its requests are stored before it has read them,
// and requests that come one upon the other are stored together. What waits is bounded: a store that hangs must not take
// the process down with it.
package outbox
