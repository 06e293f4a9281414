// Package cause says why tokens were written to the prompt cache.
//
// A request that continues a conversation should read what the request before left in the cache and write only what is
// new. [Explain] divides what was written into new text and text that had to be written again, and names what made that
// necessary: [Prompt] and [Step] are what is known of the two requests, from a gateway's own prompts or, by [Recorded],
// from the usage in a recorded session. What nothing accounts for is [Unexplained], and never counts as a cause.
//
// Everything here is arithmetic on values; nothing reads a clock.
package cause
