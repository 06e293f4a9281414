// Package prompt reads the requests of clients: their blocks in one row, and the chain of hashes by which the conversation is
// found that they belong to. A request that follows another of its conversation is read from where it differs.
package prompt
