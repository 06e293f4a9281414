// Package lookup answers questions about a store: which conversation a name means ([Conversation]), which there are
// ([Conversations]), what is in one ([Overview]), what a handle stands for ([Original], [Expand]), where something was said
// ([Search]), and what a period has cost, saved and forgotten ([Ledger]). Whoever shows a store to people asks here; the
// command line does. It changes nothing in a store: changes are made by an engine.
package lookup
