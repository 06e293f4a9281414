// Package flush saves what is worth remembering of a conversation before a pour takes it out of the view.
//
// The conversation's own model is asked in a hidden turn that continues the last request, so that all of it
// is in the provider's cache and bound thinking stays valid. What the model saves becomes items of memory; a
// call of a tool in its answer is not executed, and nothing of the turn enters the conversation. Where no
// model can be asked, or has nothing to say, the user's instructions and what was decided are saved as the
// conversation has them.
//
// A conversation is flushed once in a cycle, which ends with its next checkpoint. That is noted before it
// begins, so that a flush that fails is not tried again with every request.
package flush
