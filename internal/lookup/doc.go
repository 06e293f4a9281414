// Package lookup answers what people and programs ask a store: which conversation a name means ([Conversation]), what
// stood where a handle stands ([Original]), and what a period has cost, saved and forgotten ([Ledger]). The command line is
// one face of it. It writes nothing.
package lookup
