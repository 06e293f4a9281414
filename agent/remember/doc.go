// Package remember gives agents tools for what outlives a session: save_memory, recall and forget.
//
// What is saved is kept in a store with the conversation and the message that it comes from, for all later sessions of its tenant and
// project. It is one line without credentials; a text with credentials is refused. What corrects an earlier memory takes its
// place, so that one answer is left. What is read back is data: the model is told so, and no text can make lines of its own.
//
// An agent that has save_memory also uses it in the turn that nobody sees before a pour, where the preset asks for one (preset.Flush),
// and a session that begins is told what is remembered where embedded.Options.Recall says so.
package remember
