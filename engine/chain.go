package engine

import (
	"hash/maphash"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A reading is a client's request as the engine looks at it: the parsed body, its blocks in one
// row, and their chain of hashes as far as it was needed.
//
// The chain is the identity of a conversation (design, section 4): h(i) = H(h(i-1), role, block).
// It knows no borders between messages, so neighbours of one role count as merged, and it passes
// over thinking, which clients may leave out. The blocks in the chain are the spine.
type reading struct {
	doc    *wire.Document
	atoms  []atom
	starts []int         // of each message: the index of its first atom
	spine  []int         // indexes of atoms in the chain
	chain  []decant.Hash // h(1), h(2), ... of the spine, as far as they are known

	known  int              // atoms that an earlier request had, byte for byte
	counts []int32          // tokens of each atom by est, 0: not counted
	est    *token.Estimator // nil: nothing is counted
}

// An atom is one block of a request.
type atom struct {
	*decant.Block
	role    decant.Role
	message int    // index of its message in the request
	bytes   []byte // as the client sent it
	print   uint64 // fingerprint of bytes
}

// raw returns the hash of the bytes that the client sent, as the store knows it.
func (a *atom) raw() decant.Hash { return decant.HashBytes(a.bytes) }

// read parses a request body of the Messages API. Fingerprints are of the given seed: they tell
// within one process whether bytes are the same, at a tenth of the cost of a hash. What was is the
// memory of, a request like this one, need not be read again; it may be nil.
func read(body []byte, seed maphash.Seed, was *memory) (*reading, error) {
	doc, err := parse(body, was)
	if err != nil {
		return nil, err
	}
	ms := doc.Conversation.Messages
	n := 0
	for i := range ms {
		n += len(ms[i].Blocks)
	}
	r := &reading{
		doc: doc, atoms: make([]atom, 0, n), starts: make([]int, 0, len(ms)), spine: make([]int, 0, n),
		chain: make([]decant.Hash, 0, n), counts: make([]int32, n),
	}
	for i := range ms {
		r.starts = append(r.starts, len(r.atoms))
		for k := range ms[i].Blocks {
			r.add(i, &ms[i].Blocks[k], ms[i].Role)
		}
		if i+1 == doc.Kept {
			r.recall(was)
		}
	}
	for i := r.known; i < n; i++ {
		r.atoms[i].print = maphash.Bytes(seed, r.atoms[i].bytes)
	}
	return r, nil
}

func parse(body []byte, was *memory) (*wire.Document, error) {
	if was == nil {
		return wire.ParseAs(wire.Anthropic, body)
	}
	return was.doc.ParseNext(body)
}

func (r *reading) add(message int, b *decant.Block, role decant.Role) {
	if b.Kind != decant.KindThinking {
		r.spine = append(r.spine, len(r.atoms))
	}
	r.atoms = append(r.atoms, atom{Block: b, role: role, message: message, bytes: r.doc.Raw(b.Ref)})
}

// footprint returns about how many bytes the request takes in memory.
func (r *reading) footprint() int { return footprint(r.doc.Source, len(r.atoms)) }

// identical reports whether a and b are the same bytes in memory.
func identical(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// at returns the i-th block of the spine.
func (r *reading) at(i int) *atom { return &r.atoms[r.spine[i]] }

// hash returns h(i+1), the hash of the chain up to and with the i-th block of the spine. It is zero
// for -1.
func (r *reading) hash(i int) decant.Hash {
	if i < 0 {
		return decant.Hash{}
	}
	for n := len(r.chain); n <= i; n++ {
		a := r.at(n)
		r.chain = append(r.chain, link(r.hash(n-1), a.role, anthropic.Identity(a.bytes)))
	}
	return r.chain[i]
}

// begins reports whether other begins with the blocks of r. What looks the same is the same, so that hardly
// any block has to be hashed for that.
func (r *reading) begins(other *reading) bool {
	if len(r.spine) > len(other.spine) {
		return false
	}
	for i := range r.spine {
		a, b := r.at(i), other.at(i)
		if a.role != b.role || a.print != b.print && anthropic.Identity(a.bytes) != anthropic.Identity(b.bytes) {
			return false
		}
	}
	return true
}

// hashes returns the whole chain.
func (r *reading) hashes() []decant.Hash {
	r.hash(len(r.spine) - 1)
	return r.chain
}

// link returns h(i) from h(i-1) and the i-th block.
func link(before decant.Hash, role decant.Role, block decant.Hash) decant.Hash {
	buf := make([]byte, 0, 64)
	buf = append(buf, before[:]...)
	buf = append(append(buf, role...), 0)
	return decant.HashBytes(append(buf, block[:]...))
}

// looks reports whether the i-th block of the line's spine has the bytes of a.
func (l *line) looks(i int, a *atom) bool {
	if l.prints[i] != 0 {
		return a.print == l.prints[i]
	}
	return a.raw() == l.state.Chain[l.spine[i]].Raw
}

// shared returns how many blocks at the beginning of the spine are those of l, and the state of l
// that this is about: other requests may move l on at any time. What has the same raw bytes as before
// is the same block; only the rest is brought into canonical form.
func (r *reading) shared(l *line) (int, *store.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := r.sharedLocked(l)
	return n, l.state
}

// sharedWhole returns the number of blocks of l when the request holds them all, else 0.
func (r *reading) sharedWhole(l *line) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := r.sharedLocked(l); n == len(l.spine) {
		return n
	}
	return 0
}

func (r *reading) sharedLocked(l *line) int {
	n := min(len(r.spine), len(l.spine))
	for i := range n {
		known := &l.state.Chain[l.spine[i]]
		if a := r.at(i); i == len(r.chain) && l.looks(i, a) && a.role == known.Role {
			r.chain = append(r.chain, known.Chain)
			continue
		}
		if r.hash(i) != known.Chain {
			return i
		}
	}
	return n
}
