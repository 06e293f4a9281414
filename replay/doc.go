// Package replay plays recorded sessions through policies side by side, and says what each would have
// sent, what that would have cost, and what the agent would have missed.
//
// A session is played request by request, on recorded time: each answer of the recording was once
// asked for with everything before it. A [Policy] says what it would have sent instead. The provider's
// prefix cache is predicted with package cost, so that a change in old history costs what it costs; a
// [Result] holds the sums. Quality is measured against the recording: of the exact strings that the
// assistant wrote next and that the whole history held, the share that the policy's view still held
// (recall), and the share that it held on a line that says something of what stood beside them before
// (grounded).
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
