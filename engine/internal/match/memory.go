package match

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A Memory is what stays known of a request that was read: enough to read the next one of its
// conversation, which repeats most of its bytes, from where it differs. It is never changed.
type Memory struct {
	doc    *wire.Document
	prints []uint64      // of each block
	chain  []decant.Hash // of the spine, as far as it was needed
	counts []int32       // tokens of each block by est; 0: not counted
	est    *token.Estimator
}

// Remember returns what is to be kept of a reading.
func (p *Prompt) Remember() *Memory {
	m := &Memory{doc: p.Doc, chain: p.chain, counts: slices.Clone(p.counts), est: p.est, prints: make([]uint64, len(p.Blocks))}
	for i := range p.Blocks {
		m.prints[i] = p.Blocks[i].Print
	}
	return m
}

// recall takes over what m knows of the blocks so far, which are the same as those of m.
func (p *Prompt) recall(m *Memory) {
	p.known = len(p.Blocks)
	for i := range p.Blocks {
		p.Blocks[i].Print = m.prints[i]
	}
	p.est = m.est
	copy(p.counts[:p.known], m.counts)
	p.chain = append(p.chain, m.chain[:min(len(p.Spine), len(m.chain))]...)
}

// Tokens returns the tokens of the i-th block, which are counted once.
func (p *Prompt) Tokens(i int, est *token.Estimator) int {
	if p.est != est {
		clear(p.counts)
		p.est = est
	}
	if p.counts[i] == 0 {
		p.counts[i] = int32(est.Block(p.Blocks[i].Block))
	}
	return int(p.counts[i])
}

// Adopt has a prompt take over the tokens of its first blocks, which somebody has counted: in the order of the blocks, 0 where nobody has.
func Adopt(p *Prompt, counts []int32, est *token.Estimator) {
	if p.est != est {
		clear(p.counts)
		p.est = est
	}
	for i, n := range counts {
		if p.counts[i] == 0 && p.Blocks[i].Kind != decant.KindThinking { // which may be another one
			p.counts[i] = n
		}
	}
}

// Counted returns the tokens of the i-th block if they were counted.
func (p *Prompt) Counted(i int, est *token.Estimator) (int, bool) {
	return int(p.counts[i]), p.est == est && p.counts[i] != 0
}

// What a request takes in memory besides its body, in bytes: as a document, and for each of its blocks. A request of a
// few words takes a hundred times what it has sent.
const (
	documentBytes = 8 << 10
	blockBytes    = 512
)

// Footprint returns about how many bytes a request takes in memory, of which a body and a number of blocks are known.
func Footprint(body []byte, blocks int) int { return len(body) + documentBytes + blockBytes*blocks }

func (m *Memory) footprint() int { return Footprint(m.doc.Source, len(m.prints)) }
