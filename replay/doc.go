// Package replay plays recorded sessions through policies side by side, and says what each would have
// sent, what that would have cost, and what the agent would have missed.
//
// A session is played request by request, on recorded time: each answer of the recording was once
// asked for with everything before it. A [Policy] says what it would have sent instead. The provider's
// prefix cache is predicted with package cost, so that a change in old history costs what it costs; a
// [Result] holds the sums. Quality is measured against the recording: of the exact strings that the
// assistant wrote next and that the whole history held, the share that the policy's view still held
// (recall), and the share that it held on a line that says something of what stood beside them before
// (grounded). Nothing reads a clock, and the same files give the same figures to the last byte.
package replay
