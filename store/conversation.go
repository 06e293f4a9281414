package store

import (
	"time"

	"github.com/decantdev/decant"
)

// A Key names a conversation, or a journal.
type Key struct {
	Tenant string // empty for a store that serves one user
	ID     string
}

// A Conversation describes a conversation without its contents.
type Conversation struct {
	Key
	Session string // the client's own id for it; several conversations share one (sub-agents, forks)
	Agent   string // the program that wrote it
	Project string // what it is about: a directory, a repository; empty when unknown
	Origin  *Origin
	Version int64 // counts commits, from 1
	Length  int   // entries in its chain, those of the common part included
	Created time.Time
	Updated time.Time // of the last commit or record
}

// An Origin is where a fork left its parent: the fork's first entries are the first Position entries
// of the parent as it was at Version. Of the parent's decisions on them the fork has those that were
// made up to the version InForce, which is at most Version. Later decisions, made when the parent had
// text behind the fork's branch point, belong to the parent alone. InForce 0 means only the decisions
// that the parent itself inherited. Loader.Branch finds the right values.
type Origin struct {
	Parent   string // id, of the same tenant
	Version  int64
	Position int
	InForce  int64
}

// A Branch is what a fork takes from the conversation that it leaves.
type Branch struct {
	Origin
	Decisions []decant.Decision // of the parent; the fork begins with them
	Length    int               // entries of the parent at version InForce; those up to Position came later
	Behind    []string          // ids of the decisions that were made together with entries behind Position
}

// Arrived returns the parent's decisions about entries up to Position that came in after the version InForce: those that were
// made as the entries came in, which depend on nothing else. s is the parent at the version of the branch.
func (b *Branch) Arrived(s *State) (out []decant.Decision) {
	if b.Length >= b.Position {
		return nil
	}
	came := map[decant.Ref]bool{}
	for i := range s.Chain[b.Length:b.Position] {
		came[s.Chain[b.Length+i].Ref] = true
	}
	for i := range s.Decisions {
		d := &s.Decisions[i]
		if d.Pour == "" && (d.Kind == decant.Shrink || d.Kind == decant.Stub) && came[d.Target.Ref] {
			out = append(out, *d)
		}
	}
	return out
}

// A Head is the part of a conversation that changes and is always read whole.
type Head struct {
	Model      string      // model that the last request asked for
	Fixed      decant.Hash // version of system prompt and tools in force; zero: none
	Hold       bool        // only necessary pours until the conversation is released
	Suppressed int         // pours that freed too little since something changed; with each, the next one is put off further
	Pinned     bool        // never collected by GC
}

// An Anchor is the usage that the provider reported last, the request that it was for, and what was
// learned from it.
type Anchor struct {
	Usage       decant.Usage
	Version     int64     // version of the conversation that the request was made from
	Length      int       // entries of the chain that the request held
	Time        time.Time // time of the report; of two anchors the later one is kept
	Calibration []byte    // of the token estimate; opaque to the store
}

// An Entry is one block in a conversation's chain.
type Entry struct {
	Position   int         // in the chain, from 1; set by the store
	Chain      decant.Hash // h(i): of everything up to and including this block; thinking repeats the hash before it
	Raw        decant.Hash // blob: the block in the bytes that the client sent
	Text       decant.Hash // blob: what the model reads of it, which decisions target; zero when it has no text
	Role       decant.Role
	Kind       decant.Kind
	Author     decant.Author
	CallID     string
	Name       string // of the tool
	decant.Ref        // message number and block index in the transcript
	Tokens     int    // estimate
}

// A State is a conversation as of one version.
type State struct {
	Conversation                   // Version and Length are those of the state
	Chain        []Entry           // in order; Chain[i].Position is i+1
	Decisions    []decant.Decision // in the order in which they were made, the inherited ones first; see Live
	Head         Head              // as it is now, also in a state of an earlier version
	Anchor       Anchor            // as it is now; zero: none yet
}

// Live returns the decisions that still apply to the chain: decisions on blocks that are in it with the
// content that was decided about, checkpoints that cover nothing beyond its end, the revocations of
// these, and holds. The remaining decisions are about entries that have been replaced since.
func (s *State) Live() []decant.Decision { return Inherit(s.Decisions, s.Chain, len(s.Chain)) }

// Checkpoints returns the checkpoints among the state's decisions, in order, revoked ones included.
func (s *State) Checkpoints() []*decant.Checkpoint {
	var out []*decant.Checkpoint
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.Kind == decant.Cover && d.Checkpoint != nil {
			out = append(out, d.Checkpoint)
		}
	}
	return out
}

// Fixed is a version of a request's fixed part: its system prompt and its tools.
type Fixed struct {
	Version decant.Hash // the identity that a Head names
	System  []byte      // as the client sent it; nil if the request has none
	Tools   []byte      // as the client sent them; nil if the request has none
	Tokens  int         // estimate
}

// A Match is the longest known prefix of a request's chain.
type Match struct {
	Known int    // hashes of the chain that are known; h(Known) is the last
	Lines []Line // conversations that hold h(Known): first those that end there, then the last changed ones
}

// A Line is a conversation that a request may continue.
type Line struct {
	ID       string
	Version  int64
	Position int // position of the last entry whose Chain is the matching hash
	Length   int // length of the whole chain; entries after Position are not in the request
	Updated  time.Time
}

// A Filter selects conversations. The zero value selects all of the tenant "".
type Filter struct {
	Tenant   string
	Session  string    // exactly; empty: any
	Name     string    // an id, a session, or the beginning of one, as people type it; empty: any
	AnswerID string    // of one of its answers, exactly; empty: any
	Since    time.Time // changed at or after; zero: any
	Limit    int       // 0: 1000
}

// A Summary is a conversation in a list.
type Summary struct {
	Conversation
	Model       string
	Messages    int // number of the last message
	Tokens      int // estimate of all live entries
	Decisions   int // decisions made in this conversation, without inherited ones
	Checkpoints int
	Requests    int
	Pinned      bool
	Cost        Money // spent, Decant's own calls included
	Without     Money // what it would have cost without Decant
}
