// Package render writes a view of a conversation by editing the source that the conversation was read from.
//
// The source is made of items, which stay, are edited, or go. An [Editor] turns the items of one message after the
// other into what the view has in their place; a [Body] is the list of items of a request. How items are written that
// are new is the business of a [Dialect].
package render
