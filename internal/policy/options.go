package policy

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// PlanOptions are the model and the limits of a plan.
type PlanOptions struct {
	Model     token.Model      // whose window and prices count
	Estimator *token.Estimator // counts tokens; nil: the model's own
	Preset    *preset.Preset   // the policy

	// Target is the most tokens that the messages may have afterwards. Zero means the target of
	// the model's window, see LimitsFor.
	Target int

	// Limit is what the window leaves for the messages. A tail that is larger than the target is cut only above
	// this limit, because cutting fresh results only to meet a target does not pay. Zero means that the target
	// must be met in any case.
	Limit int

	// Trigger is what the messages may grow to before the next pour, zero if there are no automatic pours. A
	// target that must be raised stays below it if possible.
	Trigger int

	// Coming is how many tokens of messages will follow before the plan is carried out, for a plan that is made
	// ahead of its pour. They count as kept, and sizes and reasons of the plan are those with them.
	Coming int

	// Keep is the verbatim tail in tokens, whole rounds. Zero means what the preset says.
	Keep int

	// KeepTurns makes the tail at least this many turns long. Negative means what the preset says; zero
	// means no tail at all, but a summary of everything.
	KeepTurns int

	// Record says that the result is a session file. Its client resumes from a summary and what follows
	// it, so nothing stays in front of the summary, which quotes the user anyway.
	Record bool

	// Unbind says to leave out thinking that is bound to what the plan changes, as in a file from which a
	// client resumes. An Engine does this by itself.
	Unbind bool

	// Quick skips everything that reads the texts of the messages, for when there is no time: nothing is reduced, a
	// summary is the beginning and the end of what it covers, and nothing is proved. It is the last rung.
	Quick bool

	// Key seals the records that the plan makes, so that they are recognised in a file
	// by Recognise. Empty: they are not sealed, and count as ordinary text when they come back.
	Key []byte

	// Now is when the prices hold. The zero value means the newest prices known.
	Now time.Time

	// Ahead is the size, in tokens, of the newest messages that show what the agent needs of older ones. A
	// record prefers exact strings that the model used there, and the text beside them. Zero turns this off. See
	// preset.Summary.
	Ahead int

	// Made are earlier edits of single blocks that stay in force. The plan is made on top of them and
	// does not repeat them. An earlier checkpoint must not be among them: a new one is made from the
	// transcript and covers everything that the earlier one did.
	Made []decant.Decision

	// Pinned are blocks that stay verbatim, in addition to those of the tools that the preset pins. If a
	// checkpoint covers one, it is copied into the checkpoint's text.
	Pinned map[decant.Ref]decant.Hash

	// Segments are texts of models about parts of the conversation: those of its newest checkpoint, then those
	// prepared since. A record quotes the usable ones (Usable) about messages that it covers.
	Segments []decant.Segment

	// Spent is what was spent since the last checkpoint on segments that came to nothing, in dollars.
	Spent float64

	// Call supplies the fields Conversation, Upstream, Instructions, Focus, Background and Sent of a
	// Summarizer's input.
	Call provider.SummaryInput
}
