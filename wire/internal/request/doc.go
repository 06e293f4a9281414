// Package request reads and writes requests of the Messages, Chat Completions and Responses APIs.
//
// A parser makes a document of a request, with a [Body] as its layout. A request of the Messages API is also read after
// the one before it, of which it repeats most ([Body.Next]). A dialect writes messages as one API wants them, into a
// request that is edited or into a new one.
package request
