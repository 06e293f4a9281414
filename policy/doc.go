// Package policy decides what to change in what a model is sent. It is pure: the same conversation, model and preset
// give the same decisions, nothing is stored, and no clock is read.
//
// [FirstSight] cuts results as they arrive. [Due] says whether a pour is due, and why. [Plan] makes one that the window
// demands: given a conversation, a model and a preset it proposes decisions, cheapest loss first. Stale reads, duplicates and old results become stubs; if that is
// not enough, the oldest messages are covered by a verified summary, and only as many of them as must be; what is
// newest stays verbatim. Where even that does not fit, it goes on into the tail, and only then says that the target is
// impossible. [Fold] makes one message of everything, where nothing else fits or is legal. [PlanEarly] makes a pour that is
// for money, and [MeasureEarly] says what it would be worth. [Clear] makes one that the provider itself carries out.
//
// [MarkView] says where a cache marker helps, [LeftOut] what a view lacks.
//
// A recorded session is replayed by the same functions as a request, so what a replay says holds for the gateway.
package policy
