package match

import (
	"errors"
	"hash/maphash"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A Prompt is a client's request as the engine looks at it: the parsed body, its blocks in one row, and their chain of
// hashes as far as it was needed.
//
// The chain is the identity of a conversation (docs/INTERNALS.md, "Whose conversation a request is"): h(i) = H(h(i-1),
// role, block). It knows no borders between messages, so neighbours of one role count as merged, and it passes over
// thinking, which clients may leave out. The blocks in the chain are the spine.
type Prompt struct {
	Dialect dialect.Dialect
	Doc     *wire.Document
	Blocks  []Block
	Starts  []int         // of each message: the index of its first block
	Spine   []int         // indexes in Blocks of what the chain has
	chain   []decant.Hash // h(1), h(2), ... of the spine, as far as they are known

	known  int              // blocks that an earlier request had, byte for byte
	counts []int32          // tokens of each block by est, 0: not counted
	est    *token.Estimator // nil: nothing is counted
}

// A Block is one block of a request.
type Block struct {
	*decant.Block
	Role    decant.Role
	Message int    // index of its message in the request
	Bytes   []byte // as the client sent it
	Print   uint64 // fingerprint of bytes
}

// API returns the name of the request's API, as a store keeps it.
func (p *Prompt) API() string { return string(p.Dialect.About().Format) }

// Raw returns the hash of the bytes that the client sent, as the store knows it.
func (b *Block) Raw() decant.Hash { return decant.HashBytes(b.Bytes) }

// Read parses a request body as a dialect has it. Fingerprints are of the given seed: they tell
// within one process whether bytes are the same, at a tenth of the cost of a hash. What was is the
// memory of, a request like this one, need not be read again; it may be nil. With dialect.ErrElsewhere comes what the
// request holds.
func Read(d dialect.Dialect, body []byte, seed maphash.Seed, was *Memory) (*Prompt, error) {
	doc, err := parse(d, body, was)
	if doc == nil || err != nil && !errors.Is(err, dialect.ErrElsewhere) {
		return nil, err
	}
	ms := doc.Conversation.Messages
	n := 0
	for i := range ms {
		n += len(ms[i].Blocks)
	}
	r := &Prompt{
		Dialect: d, Doc: doc, Blocks: make([]Block, 0, n), Starts: make([]int, 0, len(ms)), Spine: make([]int, 0, n),
		chain: make([]decant.Hash, 0, n), counts: make([]int32, n),
	}
	for i := range ms {
		r.Starts = append(r.Starts, len(r.Blocks))
		for k := range ms[i].Blocks {
			r.add(i, &ms[i].Blocks[k], ms[i].Role)
		}
		if i+1 == doc.Kept {
			r.recall(was)
		}
	}
	for i := r.known; i < n; i++ {
		r.Blocks[i].Print = maphash.Bytes(seed, r.Blocks[i].Bytes)
	}
	return r, err
}

// parse parses a request body, from where it differs from the request of a memory; that may be nil.
func parse(d dialect.Dialect, body []byte, was *Memory) (*wire.Document, error) {
	if was != nil {
		if next, ok := was.doc.ParseNext(body); ok {
			return next, nil
		}
	}
	return d.Parse(body)
}

func (p *Prompt) add(message int, b *decant.Block, role decant.Role) {
	if b.Kind != decant.KindThinking {
		p.Spine = append(p.Spine, len(p.Blocks))
	}
	p.Blocks = append(p.Blocks, Block{Block: b, Role: role, Message: message, Bytes: p.Doc.Raw(b.Ref)})
}

// SameBytes reports whether a and b are the same bytes in memory.
func SameBytes(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// At returns the i-th block of the spine.
func (p *Prompt) At(i int) *Block { return &p.Blocks[p.Spine[i]] }

// Hash returns h(i+1), the hash of the chain up to and with the i-th block of the spine. It is zero
// for -1.
func (p *Prompt) Hash(i int) decant.Hash {
	if i < 0 {
		return decant.Hash{}
	}
	for n := len(p.chain); n <= i; n++ {
		a := p.At(n)
		p.chain = append(p.chain, link(p.Hash(n-1), a.Role, p.Dialect.Identity(a.Bytes)))
	}
	return p.chain[i]
}

// Hashed returns how many hashes of the chain are known.
func (p *Prompt) Hashed() int { return len(p.chain) }

// Take notes that the next hash of the chain is h: its block is known to be the same as one with that hash.
func (p *Prompt) Take(h decant.Hash) { p.chain = append(p.chain, h) }

// Begins reports whether other begins with the blocks of p. What looks the same is the same, so that hardly
// any block has to be hashed for that.
func (p *Prompt) Begins(other *Prompt) bool {
	if len(p.Spine) > len(other.Spine) {
		return false
	}
	for i := range p.Spine {
		a, b := p.At(i), other.At(i)
		if a.Role != b.Role || a.Print != b.Print && p.Dialect.Identity(a.Bytes) != p.Dialect.Identity(b.Bytes) {
			return false
		}
	}
	return true
}

// Hashes returns the whole chain.
func (p *Prompt) Hashes() []decant.Hash {
	p.Hash(len(p.Spine) - 1)
	return p.chain
}

// link returns h(i) from h(i-1) and the i-th block.
func link(before decant.Hash, role decant.Role, block decant.Hash) decant.Hash {
	buf := make([]byte, 0, 64)
	buf = append(buf, before[:]...)
	buf = append(append(buf, role...), 0)
	return decant.HashBytes(append(buf, block[:]...))
}

// Answer returns the blocks of the first message of the assistant from the i-th block of the spine on,
// and where it begins.
func (p *Prompt) Answer(i int) (said []*Block, at int) {
	for i < len(p.Spine) && p.At(i).Role != decant.RoleAssistant {
		i++
	}
	for at = i; i < len(p.Spine) && p.At(i).Role == decant.RoleAssistant; i++ {
		said = append(said, p.At(i))
	}
	return said, at
}

// Overlap returns how many entries of a conversation there are up to the last one that the request has,
// and which block of its spine that is; 0 and -1 when it has none. Results and calls are known by their
// ids, wherever they stand; from there on blocks count as long as they follow each other in both.
func (p *Prompt) Overlap(s *store.State) (entries, block int) {
	at := map[Call]int{}
	for i := range s.Chain {
		if e := &s.Chain[i]; e.CallID != "" {
			at[CallOf(e)] = i
		}
	}
	for i := len(p.Spine) - 1; i >= 0; i-- {
		a := p.At(i)
		if a.CallID == "" {
			continue
		}
		if k, ok := at[Call{a.Kind, a.CallID, TextHash(a.Block)}]; ok {
			return p.follow(s, k, i)
		}
	}
	return 0, -1
}

// A Call is what tells results and calls apart, whatever conversation they stand in.
type Call struct {
	Kind decant.Kind
	ID   string
	Text decant.Hash
}

// CallOf returns what tells the call or result of an entry apart.
func CallOf(e *store.Entry) Call { return Call{e.Kind, e.CallID, e.Text} }

// follow returns how far the conversation behind its k-th entry and the request behind its i-th block,
// which are the same, go on alike.
func (p *Prompt) follow(s *store.State, k, i int) (entries, block int) {
	entries, block = k+1, i
	for k++; k < len(s.Chain) && block+1 < len(p.Spine); k++ {
		if s.Chain[k].Kind == decant.KindThinking {
			continue
		}
		if !p.At(block + 1).SameAs()(&s.Chain[k]) {
			break
		}
		entries, block = k+1, block+1
	}
	return entries, block
}

// SameAs returns a function that reports whether the block is the one that an entry describes.
func (b *Block) SameAs() func(*store.Entry) bool {
	raw, text := b.Raw(), sync.OnceValue(func() decant.Hash { return TextHash(b.Block) })
	return func(e *store.Entry) bool {
		if b.Role != e.Role || raw == e.Raw {
			return b.Role == e.Role
		}
		return b.Kind == e.Kind && b.CallID == e.CallID && b.Name == e.Name && text() == e.Text
	}
}

// TextHash returns the identity of a block's text as entries have it: zero when it has none.
func TextHash(b *decant.Block) decant.Hash {
	if b.Content == nil {
		return decant.Hash{}
	}
	return b.Hash()
}
