// Package scan reads recorded sessions for the notebook: what the person said again and again, whether a rule was
// confirmed or contradicted, what was done, and what it took.
//
// [Read] makes a [Session] of a parsed transcript: its measures, its tasks, its calls, and the sentences that the
// person typed. Those alone are heard. What a tool returned, what the model wrote, what the client or a hook put
// into a message of the user, and what was pasted into one, is nobody's order.
//
// All the rest are functions of such values: [Candidates] finds what could become a rule, [Judge] compares a rule
// with a later session, [Check.In] looks a rule up in the calls, [Patterns] finds procedures that repeat. Nothing
// here opens a file, reads a clock or keeps anything.
package scan
