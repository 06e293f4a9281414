package decant

// Reduction is the rule by which a decision was made. Presets name reductions, and so do reports.
type Reduction string

// The reductions of single blocks, which presets name in their order.
const (
	ReductionTerminal   Reduction = "terminal"   // control sequences and progress that was overwritten
	ReductionSuperseded Reduction = "superseded" // a read of a file that has changed since
	ReductionDuplicate  Reduction = "duplicate"  // a result whose text is elsewhere
	ReductionStub       Reduction = "stub"       // an old result as one line
	ReductionTrim       Reduction = "trim"       // the middle of a long result
	ReductionClear      Reduction = "clear"      // an old result as a text that is always the same
	ReductionThinking   Reduction = "thinking"   // thinking that is not needed any more, or must not be sent
	ReductionArguments  Reduction = "arguments"  // the written content of an old call
)

// What else decisions are made by.
const (
	ReductionFirstSight Reduction = "first_sight" // a long result is cut when it comes in
	ReductionOutline    Reduction = "outline"     // an old result as an outline
	ReductionCheckpoint Reduction = "checkpoint"  // a range of messages as a record
	ReductionFold       Reduction = "fold"        // everything as one message
	ReductionCleared    Reduction = "cleared"     // an old result that the provider leaves out
	ReductionWrapUp     Reduction = "wrap_up"     // the model is asked to come to an end, because a budget is nearly spent
	ReductionOutlines   Reduction = "outlines"    // outlines of results that the provider leaves out, as one text
	ReductionPinned     Reduction = "pinned"      // what was pinned after it had been cleared
	ReductionRecall     Reduction = "recall"      // what is remembered of earlier conversations
	ReductionRepair     Reduction = "repair"      // a history that no API takes
	ReductionUndo       Reduction = "undo"        // a pour was taken back
	ReductionClient     Reduction = "client"      // the client's own compaction, in a replay
)
