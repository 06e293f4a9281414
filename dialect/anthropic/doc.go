// Package anthropic knows what is particular to the Messages API: when two content blocks are the same ([Identity]), what
// a refusal is about ([RefusalOf]), how the provider is asked to leave old results out of a prompt ([ClearingOf]), and
// what becomes of thinking that no longer fits ([DropBlock]). It reads and writes bytes of requests and knows nothing of
// decisions but which blocks they have cleared.
package anthropic
