// Package lookup answers questions about a store: which conversation a name means ([Conversation]), what a handle stands
// for ([Original]), and what a period has cost, saved and forgotten ([Ledger]). The command line uses it. It writes
// nothing.
package lookup
