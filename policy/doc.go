// Package policy decides what to change in what a model is sent. It is pure: the same conversation, model and preset
// give the same decisions; it stores nothing and reads no clock.
//
// Two functions are not pure: [WriteSegment] and [Proposal.Write] ask a [Summarizer], which the caller hands
// in, about a stretch of messages. What it wrote is kept as it is, and records quote it. [Stretch] says which
// messages are next.
//
// [FirstSight] cuts results as they arrive. [Due] says whether a pour is due, and why. [Plan] makes a pour
// that the window demands: given a conversation, a model and a preset it proposes decisions, cheapest loss
// first. Stale reads, duplicates and old results become stubs. If that is not enough, a verified summary
// covers the oldest messages, as few of them as possible; the newest stay verbatim. If even that does not
// fit, Plan cuts into the tail, and only then says that the target is impossible. [Fold] makes one message of
// everything, where nothing else fits or is legal. [PlanEarly] makes an early pour, and [MeasureEarly] says
// what it would be worth. [Clear] makes a pour that the provider itself carries out.
//
// [MarkView] says where a cache marker helps, [LeftOut] what a view lacks.
//
// A recorded session is replayed by the same functions as a request, so what a replay says holds for the gateway.
package policy
