// Package scan extracts from recorded sessions what a notebook needs: what the person asked for, whether
// rules were confirmed or contradicted, and what was done.
//
// [Read] makes a [Session] of a parsed transcript: its measures, tasks and calls, and the sentences that the
// person typed. Only these count as orders. Results of tools, text of the model, text that a client or a hook
// put into a message, and pasted text do not.
//
// The rest are pure functions of sessions: [Candidates] finds what could become a rule, [Judge] compares a
// rule with what was said, [Kept] with the calls, [Patterns] finds repeated procedures, and [NewMonth] sums
// up a month.
package scan
