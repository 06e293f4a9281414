// Package plan decides what is sent in place of a request.
//
// An [Input] is a request at its place in its conversation, with all that is settled before anything is decided. It
// never changes. A [Draft] of it starts from the decisions in force ([NewDraft]), takes new ones ([Draft.Add]),
// measures the view ([Draft.Size]) and writes it as a body ([Draft.Render]).
//
// A [Decider] makes the decisions: about what the request brings for the first time, about what was decided elsewhere
// in its session, about what a provider has refused, and whether it is time to pour. A [Pour] tries the routes that are
// legal in the conversation's state, each on a copy of the draft, and takes the first whose view is right.
//
// What to change in a view is package policy's. Nothing is committed here.
package plan
