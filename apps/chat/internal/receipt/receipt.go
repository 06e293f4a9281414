// Package receipt says what an answer rests on: for each of its sentences, where what it says stood in the bytes that the model was
// sent for it, and what of it stood in the conversation and was not sent at that moment.
//
// A receipt says that a text was in front of the model. It does not say that the model used it: nobody can see that. It is found without a
// model: what must stand letter by letter (numbers, names, paths, addresses, what is quoted) is looked up as it is, everything else by its
// rarest words.
package receipt

import (
	"time"

	"github.com/decantdev/decant/agent"
)

// A Verdict is what was found of a sentence in what was sent.
type Verdict string

// The verdicts.
const (
	verdictSent    Verdict = "sent"    // it stands there, as far as it can be looked up
	verdictPartly  Verdict = "partly"  // some of it does
	verdictUnsent  Verdict = "unsent"  // nothing that was sent says this
	verdictNothing Verdict = "nothing" // the sentence says nothing that could be looked up
)

// A Form is how a source was sent.
type Form string

// The forms.
const (
	formVerbatim     Form = "verbatim"     // in the bytes that it came in
	formInstructions Form = "instructions" // as a part of the system prompt, or of the definition of a tool
	formStub         Form = "stub"         // as the line that stands where a result was
	formOutline      Form = "outline"      // as a line that is quoted where a result was
	formShortened    Form = "shortened"    // as a part of what stands where a longer text was, such as one without control characters
	formRecord       Form = "record"       // as a part of the record of a checkpoint
	formAdded        Form = "added"        // in a text that Decant has put in, such as what is remembered
	formLeft         Form = "left"         // not at all
)

// A Place is a part of a block of the conversation as it was said.
type Place struct {
	Message int    `json:"message"` // its number, from 1, as in m12
	Block   int    `json:"block"`   // from 0
	Role    string `json:"role"`
	Kind    string `json:"kind"` // of the block: text, use, result
	Tool    string `json:"tool,omitzero"`
	Call    string `json:"call,omitzero"` // id of the call that the block is, or answers
	Start   int    `json:"start"`         // bytes of the block's text
	End     int    `json:"end"`
}

// A Source is a text that bears on a sentence.
type Source struct {
	Form    Form      `json:"form"`
	Place   *Place    `json:"place,omitzero"`    // where the original stands; nil: it is no part of the conversation, or a record that quotes nothing of it
	Handle  string    `json:"handle,omitzero"`   // of the checkpoint or of the original, for "decant show"
	Pour    int       `json:"pour,omitzero"`     // number of the checkpoint with which the original left what is sent; 0: no checkpoint took it
	When    time.Time `json:"when,omitzero"`     // of the decision by which it did
	Why     string    `json:"why,omitzero"`      // the reason of that decision
	Before  string    `json:"before,omitzero"`   // what stands before the quote
	Quote   string    `json:"quote"`             // what bears on the sentence
	After   string    `json:"after,omitzero"`    // and behind it
	Strings []string  `json:"strings,omitempty"` // of the sentence that stand in it letter by letter
}

// A Sentence is a piece of an answer, with what it rests on.
type Sentence struct {
	Number  int      `json:"number"` // from 1
	Text    string   `json:"text"`
	Start   int      `json:"start"` // bytes of the answer
	End     int      `json:"end"`
	Code    bool     `json:"code,omitzero"` // a block of code
	Verdict Verdict  `json:"verdict"`
	Sources []Source `json:"sources"`           // that were sent, best first
	Missing []string `json:"missing,omitempty"` // strings that nothing which was sent has
	Unsent  []Source `json:"unsent,omitempty"`  // what stood in the conversation about it and was not sent at that moment
}

// A Receipt says what an answer rests on.
type Receipt struct {
	Answer    int        `json:"answer"`   // number of its message, as in m13
	Hash      string     `json:"hash"`     // of the instructions and messages that were sent
	Messages  int        `json:"messages"` // that were sent
	Said      int        `json:"said"`     // messages that there were
	Sentences []Sentence `json:"sentences"`
}

// Of returns the receipt for the answer of a moment. The same moment gives the same receipt.
func Of(m *agent.Moment) *Receipt {
	answer := valid(m.Text)
	r := &Receipt{Answer: m.Answer + 1, Hash: m.Hash, Messages: len(m.Sent), Said: len(m.Transcript.Messages), Sentences: []Sentence{}}
	all := pieces(answer)
	asked := make([]terms, len(all))
	for i, p := range all {
		asked[i] = termsOf(answer[p.start:p.end])
	}
	s := search{places: placesOf(m), words: wordsIn(asked)}
	s.sent, s.left = s.read(s.places.sent), s.read(s.places.left)
	for i, p := range all {
		one := Sentence{Number: i + 1, Text: answer[p.start:p.end], Start: p.start, End: p.end, Code: p.code}
		s.answer(&one, &asked[i])
		r.Sentences = append(r.Sentences, one)
	}
	return r
}
