package decant

import "time"

// A Decision is an immutable record of one change to what the model sees. It is made once, stored,
// and replayed byte for byte ever after; undo is another decision.
type Decision struct {
	ID string `json:"id"`

	// Pour is the id of the pour that the decision is part of. It is empty for what was decided between pours: as
	// a block came in, or by a person. Of two pours of a conversation the newer one has the greater id, as text.
	Pour string `json:"pour,omitempty"`

	Kind      DecisionKind `json:"kind"`
	Reduction Reduction    `json:"reduction,omitempty"` // the rule by which it was made
	Reason    string       `json:"reason"`              // why, for people
	// the block that it changes; of an insert, the block that it follows; zero for a checkpoint
	Target Target `json:"target"`
	// what stands in the block's place; of a repair or an insert, the text that is added
	Text    string    `json:"text,omitempty"`
	Carried []Ref     `json:"carried,omitempty"` // of an insert: blocks whose images and documents follow its text
	Repeats []Ref     `json:"repeats,omitempty"` // of an insert: blocks that its text quotes whole
	Handle  Handle    `json:"handle,omitempty"`  // how to get the original back
	Before  int       `json:"before"`            // tokens of what it replaces
	After   int       `json:"after"`             // tokens of the replacement
	Risk    []Fact    `json:"facts_at_risk,omitempty"`
	Revokes string    `json:"revokes,omitempty"` // id of the decision that it takes back
	Created time.Time `json:"created,omitzero"`

	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // of kind checkpoint
}

// DecisionKind is what a decision does.
type DecisionKind string

// The kinds of decisions.
const (
	Shrink       DecisionKind = "shrink"        // a block's text is replaced by a shorter one
	Stub         DecisionKind = "stub"          // a tool result is replaced by one informative line
	DropThinking DecisionKind = "drop_thinking" // a thinking block is left out, whole
	Cover        DecisionKind = "checkpoint"    // a range of messages is replaced by a summary
	Repair       DecisionKind = "repair"        // broken history is made legal in the view
	Insert       DecisionKind = "insert"        // a text of Decant's is added behind a block
	Pin          DecisionKind = "pin"           // the target stays verbatim
	Unpin        DecisionKind = "unpin"
	Native       DecisionKind = "native" // the block is sent verbatim, and the provider replaces it by something short
	Hold         DecisionKind = "hold"   // no pour but a necessary one until released
	Revoke       DecisionKind = "revoke" // an earlier decision is taken back
)

// A Target names one block of the transcript. With the hash, a decision refuses other content in the
// same place. With the call id, forks of a conversation inherit decisions on results.
type Target struct {
	Ref
	CallID string `json:"call_id,omitempty"`
	Hash   Hash   `json:"hash"`
}

// TargetOf returns the target that names b.
func TargetOf(b *Block) Target { return Target{Ref: b.Ref, CallID: b.CallID, Hash: b.Hash()} }

// A Handle names an original that a decision replaced, for people and models: "d:1f2e3d4c" for a
// block, "c:3" for the range of a checkpoint.
type Handle string

// HandleOf returns the handle of a block's original text.
func HandleOf(h Hash) Handle { return Handle("d:" + h.Short()) }

// MarshalText encodes h in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText decodes what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error { return h.parse(string(text)) }

// A Checkpoint is a stored summary that replaces a contiguous range of messages in the view.
type Checkpoint struct {
	Number    int       `json:"number"` // counted from 1 within a conversation
	From      int       `json:"from"`   // number of the first message covered
	To        int       `json:"to"`     // number of the last message covered
	Messages  int       `json:"messages"`
	Placement Placement `json:"placement"`
	Summary   string    `json:"summary"` // what the model reads, pins included
	// words of the assistant that are put in if two user messages would meet; empty: none
	Reply string `json:"reply,omitempty"`
	Facts []Fact `json:"key_facts,omitempty"` // the must-keep facts that the summary was checked for and holds
	Rung  Rung   `json:"rung"`
	// share of the exact strings of user and model in the range that the summary keeps with their context, 0 to
	// 1
	Score      float64 `json:"score"`
	Share      float64 `json:"share"`          // of all exact strings in the range, also in results, that the summary has, 0 to 1
	Poor       bool    `json:"poor,omitempty"` // its score is below what the preset asks for
	Original   int     `json:"original_tokens"`
	Compressed int     `json:"compressed_tokens"`
	CostUSD    float64 `json:"cost_usd"` // of model calls made for the summary, those made before it was due included
	Pins       []Ref   `json:"pins,omitempty"`
	Kept       []int   `json:"kept,omitempty"` // numbers of the messages of the range that stay, in whole rounds
	// blocks of the range whose images and documents follow the summary
	Carried []Ref `json:"carried,omitempty"`
	// of a fold: images and documents of the range that do not follow the summary
	Lost  int `json:"images_lost,omitempty"`
	Folds int `json:"folds,omitempty"` // number of the checkpoint that this one takes in, 0: none
	// of rung native: the provider's own block, in the bytes that it came in; nothing else says the same to it
	Source string `json:"source,omitempty"`
	// what models wrote about parts of the range, for this summary and later ones
	Segments []Segment `json:"segments,omitempty"`
}

// Covers reports whether the message with a number is in the range. A nil Checkpoint covers none.
func (c *Checkpoint) Covers(message int) bool {
	return c != nil && c.From <= message && message <= c.To
}

// Foreign reports whether the summary is the provider's own block, which only the provider understands.
func (c *Checkpoint) Foreign() bool { return c != nil && c.Source != "" }

// Placement is where a checkpoint's summary goes.
type Placement string

// The placements. A summary is never put into the system prompt.
const (
	PlaceMessage Placement = "message" // a user message of its own where the range was
	PlaceAppend  Placement = "append"  // appended to the first user message
	PlaceFirst   Placement = "first"   // the provider's own block, in front of everything, in a message of the assistant
)

// Rung is the step of the ladder that produced a summary, best first.
type Rung string

// The rungs. docs/INTERNALS.md, "The way of a request", says when each is taken. A record with lines of segments is of
// their lowest rung; a program's own summariser names it, RungModel where it names none.
const (
	RungNative     Rung = "native"  // the provider's own compaction
	RungModel      Rung = "model"   // one call of a model
	RungChunks     Rung = "chunks"  // a call for each part, merged
	RungPartial    Rung = "partial" // some parts only; the gaps are named
	RungExtractive Rung = "extractive"
	RungHeadTail   Rung = "head_tail"
	RungClient     Rung = "client" // none of Decant's: the client wrote it, or had it written
)

// A Plan proposes decisions for one conversation as it is now. It is data: it can be printed,
// compared, stored, applied or thrown away.
type Plan struct {
	Base      Hash       `json:"base"`  // identity of the conversation that it was made for
	Model     string     `json:"model"` // the model whose window and prices it was made for
	Window    int        `json:"window"`
	Target    int        `json:"target"` // tokens that the messages should have afterwards
	Reason    string     `json:"reason"`
	Decisions []Decision `json:"decisions"` // in the order in which they are applied
	Before    Size       `json:"before"`
	After     Size       `json:"after"`
	Price     Price      `json:"price"`
	// share of the exact strings of user and model that the view keeps with their context, 0 to 1
	Score float64  `json:"score"`
	Risk  []Fact   `json:"facts_at_risk,omitempty"` // must-keep facts that will not be in the view
	Notes []string `json:"notes,omitempty"`         // what was asked for but could not be done, for people
}

// Size is what a view takes in the window, in tokens.
type Size struct {
	Fixed    int `json:"fixed"`    // system prompt and tools
	Messages int `json:"messages"` // everything else
}

// Total returns the whole size.
func (s Size) Total() int { return s.Fixed + s.Messages }

// Price is what applying a plan costs now and saves later, if requests go on as before.
type Price struct {
	Saved     int     `json:"tokens_saved"`        // per later request
	CacheLost int     `json:"cache_tokens_lost"`   // cached tokens that must be written again
	CostUSD   float64 `json:"cost_usd"`            // of writing CacheLost again and of Decant's own model calls
	SaveUSD   float64 `json:"save_usd"`            // per later request
	BreakEven int     `json:"break_even_requests"` // requests after which the plan has paid for itself, -1: never
}
