package replay

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/token"
)

// Compacted is the reason of a pour that the recorded client made itself.
const Compacted policy.Reason = "client"

// A compaction is what the recorded client put in place of the history so far.
type compaction struct {
	at      int              // messages of the whole history that it replaced
	time    time.Time        // when it happened, zero when unknown
	with    []decant.Message // what stood in their place; its blocks have no place in the transcript
	summary int              // tokens that a model wrote for it
}

// uncompacted takes the client's compactions out of recorded messages: it returns the one history
// that grows from the first message to the last, and the compactions. A recording that begins with a
// summary keeps it, because what it stands for is not there.
func uncompacted(ms []decant.Message, e *token.Estimator) (whole []decant.Message, cs []compaction) {
	for i := 0; i < len(ms); {
		if i == 0 || !ms[i].Compaction {
			whole = append(whole, ms[i])
			i++
			continue
		}
		end := replacementEnd(ms, i)
		c := compaction{at: len(whole), time: ms[i].Time, summary: summarised(ms[i:end], whole, e)}
		c.with = foreign(ms[i:end])
		cs = append(cs, c)
		i = end
	}
	return whole, cs
}

// replacementEnd returns the end of what a compaction put in: its first message, and what is recorded
// with the very same time, as by clients that repeat what the user said.
func replacementEnd(ms []decant.Message, i int) int {
	end := i + 1
	for end < len(ms) && !ms[i].Time.IsZero() && ms[end].Time.Equal(ms[i].Time) && ms[end].Role != decant.RoleAssistant {
		end++
	}
	return end
}

// summarised returns the tokens of what was not said before and not by a person.
func summarised(with, before []decant.Message, e *token.Estimator) (n int) {
	said := map[decant.Hash]bool{}
	for i := range before {
		for k := range before[i].Blocks {
			said[before[i].Blocks[k].Hash()] = true
		}
	}
	for i := range with {
		for k := range with[i].Blocks {
			if b := &with[i].Blocks[k]; b.Author != decant.AuthorUser && !said[b.Hash()] {
				n += e.Block(b)
			}
		}
	}
	return n
}

// foreign returns copies of messages whose blocks stand nowhere in the transcript.
func foreign(ms []decant.Message) []decant.Message {
	compaction := ms[0].Number
	out := make([]decant.Message, len(ms))
	for i := range ms {
		out[i] = ms[i]
		out[i].Number = 0
		out[i].Blocks = append([]decant.Block(nil), ms[i].Blocks...)
		for k := range out[i].Blocks {
			b := &out[i].Blocks[k]
			b.Ref, b.Changed = decant.Ref{}, fmt.Sprintf("client %d.%d.%d", compaction, i, k)
		}
	}
	return out
}

// before reports whether the compaction had happened when answer, the n-th message, was asked for.
// Where the client kept newer messages behind its summary, those are older than the compaction.
func (c *compaction) before(n int, answer *decant.Message) bool {
	return c.at <= n && (c.time.IsZero() || answer.Time.IsZero() || !answer.Time.Before(c.time))
}

// A call is a request of the client's own for a summary.
type call struct {
	at       time.Time
	messages []decant.Message
	attached []cost.Block
	written  int // tokens of the answer
}

// compactor sends what the recorded client sent: behind each of its compactions the history is its
// summary and what it kept.
type compactor struct {
	*stage
	done     int          // compactions that have happened
	attached []cost.Block // what the client sent along since the newest that the recording does not show
	seen     int          // messages of the request before
}

func startClient(s *stage) player { return &compactor{stage: s} }

func (p *compactor) view(q int) (step, error) {
	var out step
	r := &p.seg.requests[q]
	n, cs := r.messages, p.seg.compactions
	if c := p.seg.sizes.cutAt(q); c != nil && !c.all {
		if c.own {
			p.lay.edit(p.messages(p.seen), c.kept, q)
		}
		p.lay.cut(c)
	}
	for p.done < len(cs) && cs[p.done].before(n, r.answer) {
		p.compact(&cs[p.done], &out)
		p.attached = p.sentAlong(n, r.usage())
		if r.found.known && !p.seg.readSystem(q) { // it has put its own part of the beginning together anew
			out.renewed = true
		}
	}
	p.seen = n
	out.messages, out.attached = p.messages(n), p.attached
	return out, nil
}

// compact plays one compaction.
func (p *compactor) compact(c *compaction, out *step) {
	asked := p.messages(max(c.at, p.seen))
	out.calls = append(out.calls, call{at: c.time, messages: asked, attached: p.attached, written: c.summary})
	first, last := p.seg.conv.Messages[0].Number, p.seg.conv.Messages[c.at-1].Number
	before := p.lay.est.Messages(p.messages(c.at))
	p.done++
	out.reason = Compacted
	out.made = append(out.made, decant.Decision{
		Kind: decant.Cover, Reduction: decant.ReductionClient, Reason: fmt.Sprintf("the client's own compaction of m%d to m%d", first, last),
		Before: before, After: p.lay.est.Messages(c.with),
	})
}

// messages returns the history of n messages as the client saw it after its compactions so far.
func (p *compactor) messages(n int) []decant.Message {
	ms := p.seg.conv.Messages
	if p.done == 0 {
		return ms[:n]
	}
	c := &p.seg.compactions[p.done-1]
	return append(append(make([]decant.Message, 0, len(c.with)+n-c.at), c.with...), ms[c.at:n]...)
}

// sentAlong returns what the client sent with the first request behind a compaction, by the usage that
// was reported for it, besides what the recording shows: files that it read again by itself.
func (p *compactor) sentAlong(n int, u *decant.Usage) []cost.Block {
	if u == nil {
		return nil
	}
	_, counted := p.lay.prompt(p.messages(n))
	more := int(float64(u.Prompt())*p.seg.front.scale) - counted
	if more <= 0 {
		return nil
	}
	return []cost.Block{{ID: decant.HashText(fmt.Sprintf("sent along %d", p.done)), Tokens: more}}
}
