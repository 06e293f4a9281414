// Package decide makes the decisions of a request, before it is sent: about what it brings for the first time, about what
// was decided elsewhere in its session, about what a provider has refused, and whether it is time to pour.
//
// A [Decider] is handed a draft and adds to it. Nothing is committed here.
package decide
