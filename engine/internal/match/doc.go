// Package match finds the conversation that a request belongs to.
//
// [Read] parses a body into a [Prompt]: its blocks in one row, and the chain of hashes that identifies a conversation.
// A request that follows another one is read from where the two differ. [Finder.Find] returns a [Match]: which stored
// conversation the request continues, amends, replaces the end of or leaves. [Match.Applicable] returns the decisions
// in force there, and [References] the numbers that its blocks have in the transcript.
//
// A [Cache] keeps the conversations used last in memory. They are checked against the store on every request.
// docs/INTERNALS.md has the rules ("Whose conversation a request is").
package match
