package store

import (
	"time"

	"github.com/decantdev/decant"
)

// A Batch is one commit: all of it becomes visible and durable at once, or none of it.
type Batch struct {
	Key
	Version int64     // version that the batch was made from; 0 creates the conversation
	Create  *Creation // when Version is 0
	Time    time.Time // zero: the store's clock

	// Blobs are contents that the rest of the batch refers to by decant.HashText and that may be
	// new. A content that is stored already is not stored again.
	Blobs [][]byte

	// Hashes are the hashes of Blobs, in the same order, if the caller has computed them. The store
	// does not check them. Nil: the store computes them.
	Hashes []decant.Hash

	// Replace is the first position that Entries replace: with Replace 5, entries 5 and up leave the
	// chain (earlier versions keep them) and Entries follow entry 4. 0 appends. In a fork the position
	// may be in the common part; the parent does not change. It must be 0 when creating.
	Replace int
	Entries []Entry

	// Decisions are appended to earlier ones. A decision on a block refers to its original by
	// Target.Hash. Ids and checkpoint numbers must be unique within a conversation.
	Decisions []decant.Decision

	Fixed  *Fixed // stored unless it is there already
	Head   *Head  // nil: unchanged
	Events Events // stored with the commit
}

// A Creation says how a conversation begins.
//
// If the chain hash of its first entry is already live in the session, another request has created
// the same conversation at the same moment: the commit fails with ErrConflict, and a new Match finds
// that conversation.
type Creation struct {
	Session string
	Agent   string
	Project string
	Origin  *Origin // nil: not a fork
}

// Events are what happened around a conversation. They are stored, but no view depends on them.
type Events struct {
	Blobs    [][]byte // contents that Requests refer to, as in Batch
	Requests []Request
	Spends   []Spend
	Anchor   *Anchor // nil: unchanged
}

// A Request is a client's request and its answer. It may be stored twice, before it is forwarded
// and when the answer is known: the later one replaces the earlier one, which has the same id.
type Request struct {
	ID       string
	Time     time.Time
	Version  int64 // version of the conversation whose decisions were in force; 0: the version that this commit makes
	Length   int   // entries of the chain that the request held
	API      string
	Model    string
	Fixed    decant.Hash // version of system prompt and tools
	Frame    decant.Hash // blob: the request without system, tools and messages; zero: not kept
	View     decant.Hash // hash of the bytes that were sent to the provider, not a blob; zero: the client's own bytes
	Status   int         // of the answer, as in HTTP; 0: none yet or, if Broken, none
	Broken   bool        // the answer broke off, so the outcome is not known
	Answer   decant.Hash // blob: the content of the answer; zero: none
	AnswerID string      // by which the provider knows the answer and a later request may go on from it; empty: none does
	Stop     string      // why the model stopped
	Usage    decant.Usage
	Writes   []Write  // why it wrote to the prompt cache what it wrote; they add up to Usage.CacheWrite
	Planned  *Planned // of a request that was only observed; nil: it was not
}

// A Write is tokens that one request wrote to the prompt cache for one reason.
type Write struct {
	Cause  string `json:"cause"`           // in words, as internal/cause has them
	Detail string `json:"detail,omitzero"` // how long it was idle, at which block
	Tokens int    `json:"tokens"`
	Hour   int    `json:"hour,omitzero"` // the part of Tokens that lives for an hour
}

// Planned is what would have been done with a request that was only observed.
type Planned struct {
	Reason    string      `json:"reason,omitzero"` // why there would have been a pour, empty if there would have been none
	Tokens    int         `json:"tokens"`          // of the request that would have been sent, as metered
	Risk      int         `json:"risk,omitzero"`   // facts that the pour would have put at risk
	Decisions decant.Hash `json:"-"`               // blob: the decisions that would have been made; zero: none. Opaque to the store
}

// Answered reports whether the request was answered: its last messages are no longer provisional.
func (r *Request) Answered() bool { return r.Status/100 == 2 && !r.Broken }

// Failed reports whether it is known that the request was not answered. A request that is neither answered nor
// failed is under way, as far as the store knows.
func (r *Request) Failed() bool { return r.Broken || r.Status != 0 && !r.Answered() }
