// Package anthropic is the dialect of the Messages API: its doors, when two content blocks are the same, what a refusal
// is about, how an answer is read, how the provider is asked to leave old results out of a prompt, and what becomes of
// thinking that no longer fits. It reads and writes bytes and knows nothing of decisions but which blocks they have
// cleared.
package anthropic
