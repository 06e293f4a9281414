package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A closed range is what the signature of a compaction on demand says: how far the messages went that its block
// stands for. Thinking behind them is bound to those messages; because the server wrote the block itself, such
// thinking stays valid when the block takes their place (docs/reference/anthropic.md, "Compaction").
type closed struct {
	pos    uint32              // blocks passed, thinking left out
	role   string              // of the last message
	before [][sha256.Size]byte // hashes of the conversation up to there, by what compactions it is told; none: nothing stays valid
}

// maxClosed is how many compactions thinking can outlive.
const maxClosed = 200

// close returns the range that ends where the chain is. Thinking stays valid only if the model binds it.
func (c *chain) close(q *request) closed {
	out := closed{pos: c.pos, role: q.turns[len(q.turns)-1].role}
	if q.model.Binds {
		out.before = append(append(out.before, c.earlier...), c.before)
		out.before = out.before[max(0, len(out.before)-maxClosed):]
	}
	return out
}

// resume begins a chain at a signed block. What was thought before the block was there stays valid behind it, if the
// next message could be the one that followed; what is thought from here on is bound to the block.
func (c *chain) resume(b *node, r closed, next string) {
	c.pos = r.pos
	if next != r.role && next != "system" {
		c.earlier = r.before
	}
	c.buf = canon{}.block(c.buf[:0], b)
	c.before = mix(c.before, c.buf)
}

// next returns the role of the first message behind a signed block.
func (q *request) next() string {
	switch {
	case len(q.turns[0].blocks) > 1:
		return q.turns[0].role
	case len(q.turns) > 1:
		return q.turns[1].role
	}
	return ""
}

// sign returns the signature of a block with the given content.
func (r closed) sign(key []byte, content string) string {
	b := append([]byte{2, r.role[0]}, binary.BigEndian.AppendUint32(nil, r.pos)...)
	b = append(b, byte(len(r.before)))
	for _, h := range r.before {
		b = append(b, h[:]...)
	}
	sum := sha256.Sum256([]byte(content))
	b = append(b, sum[:]...)
	return base64.StdEncoding.EncodeToString(append(b, code(key, b, "")...))
}

// closedHead is the size of what stands before the hashes.
const closedHead = 1 + 1 + 4 + 1

// reopen returns what the signature of a block says, or the code of what is wrong with the block.
func reopen(key []byte, signature, content string) (closed, string) {
	b, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(b) < closedHead || b[0] != 2 {
		return closed{}, codeSignature
	}
	hashes := int(b[closedHead-1]) * sha256.Size
	end := closedHead + hashes + sha256.Size
	if len(b) != end+sha256.Size || !hmac.Equal(b[end:], code(key, b[:end], "")) {
		return closed{}, codeSignature
	}
	if sum := sha256.Sum256([]byte(content)); !hmac.Equal(b[end-sha256.Size:end], sum[:]) {
		return closed{}, codeMismatch
	}
	r := closed{role: map[byte]string{'u': "user", 'a': "assistant", 's': "system"}[b[1]], pos: binary.BigEndian.Uint32(b[2:])}
	for at := closedHead; at < closedHead+hashes; at += sha256.Size {
		r.before = append(r.before, [sha256.Size]byte(b[at:]))
	}
	return r, ""
}
