// Package reduce proposes the small cuts of a conversation: what can go out of the model's sight
// without anybody missing it.
//
// Most of what fills the window of an agent is what its tools returned, and most of that is old: a file that
// has been read again since, a build log that was acted on, the colours of a progress bar. Each reduction in
// this package finds one kind of such text and proposes decisions that replace whole blocks: nothing is
// deleted, the original stays behind the decision's handle, and no replacement is larger than what it
// replaces. [Superseded] and [Duplicate] find results whose content is elsewhere; [Stub] turns an old result
// into one line that says what it was, how it ended and which names in it are worth keeping; [Trim] keeps the
// ends of a long one together with its error lines; [Terminal] removes what a terminal would have
// overwritten; [Arguments] shortens what was written long ago; [Thinking] drops old thoughts; [Clear] is the
// blunt end. [FirstSight] is what may happen to a result that arrives for the first time.
//
// All of them are pure functions of a [Subject], a transcript or a view that has been looked at
// once. In a view a block that a decision has changed already is left alone, so that a second run
// proposes nothing; only a result that was merely shrunk may still become a stub, see
// [Options.Made].
package reduce

import (
	"github.com/decantdev/decant"
)

// Options say what reductions may touch and how they count. Counter is required.
type Options struct {
	Counter decant.Counter

	// Include and Exclude are patterns of tool names, with "*" for any letters, in any case. Only
	// results of included tools are touched (all when there is no pattern); Exclude wins.
	Include, Exclude []string

	// Pinned are patterns of tools whose results stay verbatim, and with them everything in the
	// round they were called in.
	Pinned []string

	// KeepRounds is the number of newest rounds that are not touched. The open round never is,
	// except by FirstSight.
	KeepRounds int

	// Before limits reductions to messages with a smaller Number; zero means no limit.
	Before int

	// Quote says how much of an old result its stub quotes. With it stubs are shrunk results of
	// kind decant.Shrink, reduction "outline", which a later pour may still turn into one line.
	Quote Quoting

	// Must are names that the reader is likely to need again. A replacement that takes one out of the
	// view altogether names it, beyond the room that names have otherwise, in at most an eighth of what
	// it stands for.
	Must map[string]bool

	// Transcript and Made are what a view was made of: the conversation and the decisions. With
	// both a result that was only shrunk may be shrunk further or become a stub, from its original
	// and in place of the earlier decision; without them it stays as it is.
	Transcript *decant.Conversation
	Made       []decant.Decision

	// Mask takes secrets out of a text before it is quoted in a replacement; nil means that
	// nothing is masked.
	Mask func(text string) string
}
