// Package decant is the vocabulary of context management for agents that talk to language models.
//
// A [Conversation] is one line of messages between one agent and one model. A [Message] is made of
// blocks; a [Block] is text, an image, a tool use, a tool result, thinking, or opaque. An assistant
// message with its calls, all their results and the thinking that belongs to them is a [Round], the
// atomic unit of every edit; what happens from one thing the user said to the next is a [Turn].
// A conversation is never changed. A [Decision] records one change to what the model sees of it, a
// [Plan] proposes decisions together with their price, and a [Checkpoint] replaces a range of
// messages by a verified summary. The view, which is what the model is sent, is a conversation
// again: a pure function, [View], of the transcript and the decisions. What an agent may have to
// repeat exactly or obey is a [Fact]; [Usage] is what the provider reported and charged.
//
// This package imports the standard library only and does no input or output. Every other package
// of the module speaks in these words.
package decant
