// Package memory is what outlives a conversation: items that were saved from it, with where they are known from and a
// life of their own.
//
// An [Item] is one thing to remember: a memory, an observation, a rule, a task, or what is known of an error. It
// belongs to a [Scope], which is a conversation, a project or a user, and names the messages that it comes from. What
// happens to it are pure functions from items to items; nothing here reads a clock, a store or a file.
//
//	  New
//	   │
//	   ▼      Archive
//	active ────────────▶ archived
//	       ◀────────────
//	          Restore
//
// Confirm adds evidence in every state. What is archived and confirmed again is active again. An observation that a
// program has made a rule is escalated: it stays where it is and names the rule; the rule names the observation.
//
// [Save] is how items come in: a text that is there already confirms the item that has it, and a scope that is full
// archives what was confirmed longest ago. A text is one line of at most [MaxText] characters without credentials; a
// text that is nothing but credentials is refused.
//
// [Rank] finds items by words, and [Brief] writes them for a model that did not see the conversation they come from.
//
// store.Memories keeps items; store.Memories.Revise takes what [Save] returns.
package memory
