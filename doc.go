// Package decant is the vocabulary of context management for agents that talk to language models.
//
// A [Conversation] is one line of messages between one agent and one model. A [Message] consists of blocks; a [Block]
// is text, an image, a tool use, a tool result, thinking, or opaque. An assistant message with its calls, all their
// results and its thinking is a [Round]; no edit splits one. Everything from one message of the user to the next is a
// [Turn]. A conversation is never changed. A [Decision] records one change to what the model sees of it, a [Plan]
// proposes decisions with their price, and a [Checkpoint] replaces a range of messages by a verified summary. The view,
// which the model is sent, is a conversation again: [View] is a pure function of the transcript and the decisions. A
// [Fact] is what an agent may have to repeat exactly or obey. [Usage] is what the provider reported and charged.
//
// # Words
//
//   - pour: one deliberate rewrite of what the model sees of older messages, with a reason and a price; between
//     pours a view only grows at its end.
//   - conversation: one line of messages between one agent and one model.
//   - block: a piece of a message: text, an image, a call, a result, thinking, or opaque.
//   - session: one conversation of an agent built on package agent, with its calls and runs.
//   - journal: the steps of a session in order, each written down before anything follows from it.
//   - round: an assistant message with its calls, all their results and its thinking; no edit splits one.
//   - turn: everything from one message of the user to the next.
//   - user's words: what the user typed, also while the agent worked, or answered to a question of the client; never
//     what a tool or the client put in.
//   - transcript: every block once, in the bytes that the client sent; it is never changed.
//   - decision: an immutable record of one change to what the model sees; undoing one is another decision.
//   - plan: proposed decisions with their price.
//   - view: what the model is sent: a function of transcript and decisions, and a conversation again.
//   - checkpoint: a decision that replaces a range of messages by a record.
//   - record: the text of a checkpoint.
//   - segment: what a model wrote once about a stretch of messages; records quote its lines.
//   - stub: one line in place of a result.
//   - outline: lines quoted from a result, in its place.
//   - shrink: a decision that puts a shorter form of a result in its place.
//   - native: a decision that the provider carries out: it clears old results from the prompt, and they are
//     "cleared".
//   - handle: a name under which an original can be read, such as d:1a2b3c or c:4.
//   - pin: a decision that keeps a block verbatim.
//   - hold: a decision that stops pours until the conversation is released.
//   - fact: a string that the agent may have to repeat exactly, or a sentence that it must obey.
//   - instructions: text of files that the user or the system prompt tells the agent to follow.
//   - memory: a preference, decision or pattern that outlives its conversation, with its sources.
//   - head: the beginning of a view that stays, up to the first words of the user.
//   - tail: the end of a view that stays: the newest rounds.
//   - preset: a policy as data: when to pour, down to what, and what stays.
//   - early pour: a pour that the window does not demand yet, because it saves money.
//   - route: a way to carry out a pour that is legal in the state of the conversation.
//   - bound thinking: thinking that a model accepts only behind the history that it was written for; newer Claude
//     models have it.
//   - dialect: what is particular to the API of one provider.
//   - usage: the tokens that a provider reported and charged.
//
// This package imports the standard library only and does no input or output. All other packages of the module use
// these words.
package decant
