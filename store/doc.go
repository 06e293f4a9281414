// Package store keeps everything that Decant must not lose: the transcript of every conversation,
// the decisions made about it, and what was asked, answered and paid.
//
// A conversation is a chain of entries, one for each block, in the order in which the client sent
// them. An entry names its block by hash; the bytes live beside the chain, once for each tenant
// however many conversations hold them. Nothing is changed in place: a commit appends entries and
// decisions, or says that entries replace those from a position on, and makes the next version.
// So the state as of any version, and with it the view that any request saw, can be loaded again
// with [Loader.Load]. A fork names its parent, a version and a position, and reads the common part
// from there; it copies nothing.
//
// Two rules make the store safe to share between requests, processes and machines. A commit is
// compare-and-set: it says which version it was made from, and if the conversation has moved on
// it fails with [ErrConflict] and has done nothing. And a commit that returned nil is durable: it
// survives the death of this process at any moment, so what it holds may leave the machine. Blobs
// that a commit refers to are in the same commit or were there before; a reference never dangles.
//
// What outlives conversations is kept beside them, see [Memories]; where it comes from says which of it goes with a
// conversation that is forgotten.
//
// Every key begins with the tenant, and no operation sees two tenants. Ids are made by the caller
// ([IDs] makes time-ordered ones). The store itself decides nothing about conversations.
//
// [Store] is made of small interfaces, so that a caller can ask for what it uses. Who writes another store begins
// with [Core] and adds the optional parts one by one. Package storetest has tests for each part; package sqlite is
// the embedded implementation.
package store
