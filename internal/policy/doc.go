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
// fit, Plan cuts into the tail before it reports that the target is impossible. [Fold] turns everything into
// one message, if nothing else fits or is legal. [PlanEarly] makes an early pour, and [MeasureEarly]
// estimates its worth. [Clear] makes a pour that the provider itself carries out.
//
// [MarkView] places cache markers. [LeftOut] counts the tokens that a view lacks.
//
// A replay calls the same functions for a recorded session as the gateway does for a request, so its results
// apply to the gateway.
package policy
