package decant

// A Fact is something that the agent may have to repeat exactly or obey.
type Fact struct {
	Kind FactKind `json:"kind"`
	Text string   `json:"text"` // exactly as in the transcript
	// how likely and how badly the fact is needed again; comparable within one extraction
	Weight  float64 `json:"weight"`
	Message int     `json:"message"` // number of the message that said it last
	Author  Author  `json:"author"`  // the most trusted author that said it
}

// FactKind is what sort of thing a fact is.
type FactKind string

// The kinds of facts.
const (
	FactPath        FactKind = "path"
	FactURL         FactKind = "url"
	FactIdentifier  FactKind = "identifier"
	FactHash        FactKind = "hash" // commit, digest, UUID
	FactFlag        FactKind = "flag" // command-line option
	FactNumber      FactKind = "number"
	FactError       FactKind = "error"
	FactInstruction FactKind = "instruction" // what the user told the agent to do or to keep to
	FactDecision    FactKind = "decision"
	FactOpen        FactKind = "open" // an open item
)

// Sentence reports whether facts of the kind are sentences, which are kept when their words are. Others are kept letter
// by letter.
func (k FactKind) Sentence() bool {
	return k == FactInstruction || k == FactDecision || k == FactOpen
}
