package store

import (
	"time"

	"github.com/decantdev/decant"
)

// A Batch is one commit: everything in it becomes visible and durable at once, or not at all.
type Batch struct {
	Key
	Version int64     // that it was made from; 0 creates the conversation
	Create  *Creation // when Version is 0
	Time    time.Time // zero: the store's clock

	// Blobs are the contents that the rest of the batch refers to by decant.HashText and that may
	// be new. One that is stored already is not stored again.
	Blobs [][]byte

	// Hashes are those of Blobs, in the same order, from a caller who has computed them already. They
	// are taken on trust. Nil: the store computes them.
	Hashes []decant.Hash

	// Replace is the first position that Entries take the place of: with Replace 5, entries 5 and
	// up leave the chain (earlier versions keep them) and Entries follow entry 4. 0 appends.
	// In a fork it may lie in the common part; the parent does not change. 0 when creating.
	Replace int
	Entries []Entry

	// Decisions are appended to those made before. A decision on a block refers to its original by
	// Target.Hash. Ids are unique within a conversation, checkpoint numbers too.
	Decisions []decant.Decision

	Fixed  *Fixed // stored unless it is there already
	Head   *Head  // nil: unchanged
	Events Events // stored with the commit
}

// A Creation says how a conversation begins.
//
// If the chain hash that its first entry adds is live in the session already, another request has
// created the same line at the same moment: the commit is refused with ErrConflict, and a new
// Match finds that line.
type Creation struct {
	Session string
	Agent   string
	Project string
	Origin  *Origin // nil: not a fork
}

// Events are what happened around a conversation: they are kept, but no view depends on them.
type Events struct {
	Blobs    [][]byte // that Requests refer to, as in Batch
	Requests []Request
	Spends   []Spend
	Anchor   *Anchor // nil: unchanged
}

// A Request is a client's request and its answer. It may be stored twice, before it is forwarded
// and when the answer is known: the later one replaces the earlier one with the same id.
type Request struct {
	ID      string
	Time    time.Time
	Version int64 // of the conversation, whose decisions were in force; 0: the one that this commit makes
	Length  int   // entries of the chain that it held
	API     string
	Model   string
	Fixed   decant.Hash // version of system prompt and tools
	Frame   decant.Hash // blob: the request without system, tools and messages; zero: not kept
	View    decant.Hash // of the bytes that were sent to the provider; zero: the client's own, as they came. Not a blob
	Status  int         // of the answer, as in HTTP; 0: none yet or, if Broken, none
	Broken  bool        // the answer ended before its end: what came of it was not said
	Answer  decant.Hash // blob: the content of the answer; zero: none
	Stop    string      // why the model stopped
	Usage   decant.Usage
	Planned *Planned // of a request that was only observed; nil: it was not
}

// Planned is what would have been done about a request that was only observed.
type Planned struct {
	Reason    string      `json:"reason,omitzero"` // why it would have been poured, empty when it would not
	Tokens    int         `json:"tokens"`          // of the request that would have been sent, as metered
	Risk      int         `json:"risk,omitzero"`   // facts that the pour would have put at risk
	Decisions decant.Hash `json:"-"`               // blob: those that would have been made; zero: none. Opaque to the store
}

// Answered reports whether the request was answered: what it ended with is no longer provisional.
func (r *Request) Answered() bool { return r.Status/100 == 2 && !r.Broken }

// Failed reports whether it is known that the request was not answered. One that is neither answered nor
// failed is under way, as far as the store knows.
func (r *Request) Failed() bool { return r.Broken || r.Status != 0 && !r.Answered() }
