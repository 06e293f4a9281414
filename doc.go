// Package decant is the vocabulary of context management for agents that talk to language models.
//
// A [Conversation] is one line of messages between one agent and one model. A [Message] is made of
// blocks; a [Block] is text, an image, a tool use, a tool result, thinking, or opaque. An assistant
// message with its calls, all their results and its thinking is a [Round]; no edit splits one. What
// happens from one thing the user said to the next is a [Turn].
// A conversation is never changed. A [Decision] records one change to what the model sees of it, a
// [Plan] proposes decisions together with their price, and a [Checkpoint] replaces a range of
// messages by a verified summary. The view, which is what the model is sent, is a conversation
// again: [View] is a pure function of the transcript and the decisions. What an agent may have to
// repeat exactly or obey is a [Fact]. [Usage] is what the provider reported and charged.
//
// # Words
//
//   - pour: one deliberate rewrite of what the model sees of older messages, with a reason and a price; between
//     pours a view only grows at its end.
//   - decant: to send the model a view in place of the whole conversation.
//   - conversation: one line of messages between one agent and one model.
//   - block: a piece of a message: text, an image, a call, a result, thinking, or opaque.
//   - session: one conversation of an agent that you build, with its calls and runs.
//   - journal: what has happened in a session, step by step, as it was written down before anything followed from it.
//   - round: an assistant message with its calls, all their results and its thinking; no edit splits one.
//   - turn: what happens from one thing that the user said to the next.
//   - user's words: what the user typed, or answered to a question of the client; never what a tool or the
//     client put in.
//   - transcript: every block once, in the bytes the client sent; it is never changed.
//   - decision: an immutable note of one change to what the model sees; undoing one is another decision.
//   - plan: decisions that are proposed, with their price.
//   - view: what the model is sent: a function of transcript and decisions, and a conversation again.
//   - checkpoint: a decision that replaces a range of messages by a record.
//   - record: the text of a checkpoint.
//   - segment: what a model wrote once about a stretch of messages; records quote its lines.
//   - stub: a line in place of a result.
//   - outline: lines quoted of one result, in its place.
//   - handle: a name under which an original can be read again, such as d:1a2b3c or c:4.
//   - pin: a decision that keeps a block verbatim.
//   - hold: a decision that puts off pours until somebody releases the conversation.
//   - fact: a string that the agent may have to repeat exactly, or a sentence that it must obey.
//   - instructions: text of files that the user or the system prompt tells the agent to follow.
//   - memory: something that outlives its conversation: a preference, a decision, a pattern, with where it is known from.
//   - head: what stays at the beginning of a view, up to the first words of the user.
//   - tail: what stays at its end, the newest rounds.
//   - preset: a policy as data: when to pour, down to what, and what stays.
//   - early pour: a pour that the window does not demand yet, because it saves money.
//   - route: a way to carry out a pour that is legal in the state of the conversation.
//   - dialect: what is particular to the API of one provider.
//   - usage: the tokens that a provider reported and charged.
//
// This package imports the standard library only and does no input or output. All other packages
// of the module use these words.
package decant
