// Package ticket is what was sent for a request, or is about to be: all that is left of it when its answer comes.
//
// A [Ticket] knows how the request stood to its conversation when it was sent ([Sight]), what a commit of it brings
// ([Ticket.Batch]), and what would have been done about one that was only observed ([Trial]). It knows no store.
package ticket
