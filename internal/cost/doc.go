// Package cost says what requests cost and what a change to a conversation would.
//
// Providers keep the beginning of a prompt for a while and charge a tenth or less for reading it
// again, so on long conversations money is decided by what stays the same, not by what is short: a
// change in old history saves little on each later request and makes everything behind it be written
// anew, once. [Of] prices a usage report by the price rows in force on its day, [Cache] predicts how a
// prompt divides into read, written and plain tokens, [ReachOf] says what the markers of a request make
// the provider keep, and [Change] is the arithmetic of breaking even.
// A price that is not known makes a sum unknown, never smaller.
//
// Everything here is arithmetic on values; nothing reads a clock.
package cost
