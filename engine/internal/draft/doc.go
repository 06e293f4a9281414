// Package draft is what would be sent for a request: the decisions in force at its place in a conversation, those that
// are new, and the view under all of them.
//
// A [Query] is the request at its place, with what is settled before anything is decided. A [Draft] of it starts from the
// decisions in force ([New]), takes new ones ([Draft.Add]), says how large the view is ([Draft.Size]) and writes it as a
// body ([Draft.Render]). It knows no store: what is decided is the engine's and package pour's.
package draft
