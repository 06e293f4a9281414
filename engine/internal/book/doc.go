// Package book keeps what was sent and how it was answered.
//
// An [Outgoing] is a request with the view that is sent for it: what a commit of it brings, and all that is left of it
// when its answer comes. A [Queue] holds answers until requests leave time to archive them.
package book
