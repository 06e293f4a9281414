package decant

// A Segment is what a model wrote once about a stretch of a conversation, while it was read. It is never
// written again: later records take unchanged lines from it, and no model ever summarises it. (Records that
// are summaries of summaries recall far less at the same size.)
type Segment struct {
	From  int    `json:"from"`            // number of the first message that it is about
	To    int    `json:"to"`              // number of the last one
	Of    Hash   `json:"of"`              // of these messages as they were read; other messages need another segment
	Text  string `json:"text"`            // as it was accepted
	Rung  Rung   `json:"rung"`            // model, chunks or partial
	Model string `json:"model,omitempty"` // that wrote it
	Gaps  []Gap  `json:"gaps,omitempty"`  // messages of the stretch of which it says nothing
	// dollars spent on it, failed calls included; zero where the cost of an earlier checkpoint has them
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// A Gap is a range of messages that a segment says nothing about: the model could not be asked about them.
type Gap struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Why  string `json:"why"` // in a few words, for people
}
