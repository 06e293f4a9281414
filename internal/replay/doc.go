// Package replay plays recorded sessions through policies side by side, and says what each would have
// sent, what that would have cost, and what the agent would have missed.
//
// A session is played request by request, on recorded time: each answer of the recording was once
// asked for with everything before it. A [Policy] says what it would have sent instead. A [Result] holds the
// sums.
//
// # Money
//
// What the client paid is the recorded usage, at the prices of the day and of the model that answered. What the
// other policies would have paid is modelled: the size of prompts by estimates that are fitted to the reported
// ones, how they divide into read and written by a model of the provider's prefix cache (package cost),
// so that a change in old history costs what it costs. The lifetime of cache entries is the one that the
// usage says was written, request by request. Where the usage says that the cache was cold or warm against
// the clock, because the agent was started again, another session kept the tools warm, or the provider
// missed, that holds for every policy; what the client lost because it changed its own history is its own
// policy. [Session.Recorded] holds the model against the record: the prompts of the client as modelled and
// as paid. With [Options.Clock] the clock alone decides, and the error says how good that is.
//
// What no recording has: the calls in which a client asks for a summary, which are modelled; answers that were
// broken off; system prompt and tools, of which only the size is known; and whatever a client sent and
// did not write down, which counts where the next prompt shows it. Recorded outputs are often what an
// answer had when it began: then its text counts.
//
// # Quality
//
// Quality is measured against the recording, by the rule of internal/ruler, which shares no code with what
// decides what is kept: of the exact strings that the assistant wrote next and that the whole history held,
// the share that the policy's view still held (recall), and the share that it held on a line that shares
// four plain words with one where they stood (grounded). Behind a pour the next 40 messages are asked what
// they took from memory (later).
//
// # Compactions
//
// Where the recorded client compacted, the policy "client" plays what it really sent: behind each
// compaction its summary, what it kept and what it read again by itself (as many tokens as the usage
// reported next says), with the call that wrote the summary. What is counted as missed are strings of
// the whole history, as for every policy. The other policies play the session as if the client had not
// compacted: as one history that grows from the first message to the last, which under "none" may
// burst the window. What the agent did because of a compaction, such as reading a file again, stays in
// the recording and so in every policy. Where a recording begins with a summary, or with
// [Options.Split], what stands before a summary is not there, and the summary is history like any other.
//
// Nothing reads a clock, and the same files give the same figures to the last byte.
package replay
