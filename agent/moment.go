package agent

import (
	"bytes"
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// Conditions of Session.Moment that callers branch on.
var (
	// ErrNoAnswer means that a message is not an answer of the model.
	ErrNoAnswer = errors.New("this message is not an answer of the model")

	// ErrNotNoted means that nothing is noted of what was sent for an answer: it was given elsewhere, and loaded.
	ErrNotNoted = errors.New("what the model was sent for this answer was not noted: the answer was not given in this session")

	// ErrNotTheSame means that what is stored does not give the bytes any longer that were sent.
	ErrNotTheSame = errors.New("what was sent for this answer cannot be made once more from what is stored")
)

// A Past is what of a store tells what was sent earlier. Every store has it.
type Past interface {
	store.Loader
	store.Directory
}

// A Moment is what the model of a session was sent for one of its answers. Nothing that has happened since changes it: no pour,
// no undo, no rewind of what came later. Nobody may change it.
type Moment struct {
	Answer     int                  // index of the answer among the messages of the session
	Text       string               // what the answer says; several texts are parted by an empty line
	System     string               // the instructions
	Transcript *decant.Conversation // all that had been said, nothing of it poured
	View       *decant.Conversation // what the model was given to read of it
	Decisions  []decant.Decision    // that make the one of the other, oldest first
	Before     []decant.Decision    // checkpoints that the one in force has taken in, newest first
	Sent       []stdjson.RawMessage // the messages in the bytes that were sent, without markers for the provider's cache
	Hash       string               // of instructions and messages; it was noted when they were sent, and is that of Sent
}

// Moment returns what the model was sent for an answer of the session, which message names by its index. It is made once more from the
// journal and from what the store keeps of decisions, and it is exact: where the hash is not the one that was noted when the request
// was sent, the error is ErrNotTheSame. Other errors to branch on are ErrNoAnswer and ErrNotNoted.
func (s *Session) Moment(ctx context.Context, past Past, message int) (*Moment, error) {
	s.mu.Lock()
	st := s.state
	s.mu.Unlock()
	if err := s.agent.opts.Engine.Flush(ctx); err != nil {
		return nil, err
	}
	p := pastOf{Past: past, tenant: s.agent.opts.Tenant, root: st.root, system: s.agent.opts.System}
	return p.at(ctx, &st, message)
}

// ReadMoment is Session.Moment for a session that is kept, without an agent to go on with it. Last stands for the last answer that says
// something. An unknown session is store.ErrNotFound.
func ReadMoment(ctx context.Context, from store.Journals, past Past, k store.Key, message int) (*Moment, error) {
	var st state
	if _, err := st.read(ctx, from, k); err != nil {
		return nil, err
	}
	p := pastOf{Past: past, tenant: k.Tenant, root: cmp.Or(st.root, k.ID)}
	if message == Last {
		message = len(st.history) - 1
		for message > 0 && (bytes.HasPrefix(st.history[message], []byte(userStart)) || textIn(st.history[message]) == "") {
			message--
		}
	}
	return p.at(ctx, &st, message)
}

// FindMoment is ReadMoment for the newest answer to a request whose hash begins so (Moment.Hash, Snapshot.Hash). Where there is none,
// the error is ErrNoAnswer.
func FindMoment(ctx context.Context, from store.Journals, past Past, k store.Key, hash string) (*Moment, error) {
	var st state
	if _, err := st.read(ctx, from, k); err != nil {
		return nil, err
	}
	p := pastOf{Past: past, tenant: k.Tenant, root: cmp.Or(st.root, k.ID)}
	for _, n := range slices.Backward(st.sent) {
		if hash != "" && strings.HasPrefix(n.hash, hash) {
			return p.at(ctx, &st, n.message)
		}
	}
	return nil, fmt.Errorf("agent: session %s was sent nothing with the hash %.*s: %w", k.ID, shortHash, hash, ErrNoAnswer)
}

// Last stands for the last answer of a session.
const Last = -1

// at makes what was sent for an answer of a session once more.
func (p *pastOf) at(ctx context.Context, st *state, message int) (*Moment, error) {
	h := st.history
	if message < 0 || message >= len(h) || bytes.HasPrefix(h[message], []byte(userStart)) {
		return nil, fmt.Errorf("agent: message %d: %w", message+1, ErrNoAnswer)
	}
	i, ok := slices.BinarySearchFunc(st.sent, message, func(n sending, at int) int { return n.message - at })
	if !ok {
		return nil, fmt.Errorf("agent: message %d: %w", message+1, ErrNotNoted)
	}
	m, err := p.moment(ctx, h[:message], &st.sent[i])
	if err != nil {
		return nil, fmt.Errorf("agent: message %d: %w", message+1, err)
	}
	m.Text = textIn(h[message])
	return m, nil
}

// textIn returns what a message says.
func textIn(m stdjson.RawMessage) string {
	var said struct {
		Blocks []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(m, &said, lenient) != nil {
		return "" // a content that is a bare text, which no session writes
	}
	var texts []string
	for _, b := range said.Blocks {
		if b.Type == "text" && b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Answers returns the indexes of the answers of the model.
func (s *Session) Answers() (out []int) {
	for i, m := range s.Messages() {
		if !bytes.HasPrefix(m, []byte(userStart)) {
			out = append(out, i)
		}
	}
	return out
}

// A pastOf finds what was sent for one session.
type pastOf struct {
	Past
	tenant, root string
	system       string // of the agent, where what it was is not stored
}

// moment makes a request once more.
func (p *pastOf) moment(ctx context.Context, h history, n *sending) (*Moment, error) {
	if n.last != nil {
		h = append(slices.Clone(h[:len(h)-1]), n.last)
	}
	f, err := p.fixed(ctx, n.fixed)
	if err != nil {
		return nil, err
	}
	m := &Moment{Answer: n.message, System: f.text}
	if m.Decisions, m.Before, err = p.decisions(ctx, n); err != nil {
		return nil, err
	}
	if err := m.make(f.body(h), n); err != nil {
		return nil, err
	}
	return m, nil
}

// make makes what was sent of a request in full.
func (m *Moment) make(body []byte, n *sending) error {
	doc, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		return err
	}
	numbers := numbering(doc.Conversation, n.numbers)
	m.Transcript = numbers.Conv
	sent, err := decant.View(m.Transcript, decant.Sent(m.Decisions))
	if err == nil {
		m.View, err = decant.View(m.Transcript, m.Decisions)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotTheSame, err)
	}
	out, err := doc.Render(numbers.InRequest(sent))
	if err == nil {
		m.Sent, err = sentIn(out)
	}
	if err != nil {
		return err
	}
	if m.Hash = sealOf(m.System, m.Sent); m.Hash != n.hash {
		return fmt.Errorf("%w: the hash is %.*s, not %.*s", ErrNotTheSame, shortHash, m.Hash, shortHash, n.hash)
	}
	return nil
}

// numbering gives the messages of a conversation numbers.
func numbering(c *decant.Conversation, numbers []int) *archive.References {
	m := &archive.References{Conv: c, Same: true, Fits: true}
	if len(numbers) != len(c.Messages) {
		return m
	}
	m.Same, m.Back, m.Index = false, map[decant.Ref]decant.Ref{}, map[int]int{}
	ms := slices.Clone(c.Messages)
	for i := range ms {
		n := numbers[i]
		m.Index[n], ms[i].Number = ms[i].Number, n
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			ref := decant.Ref{Message: n, Block: b.Ref.Block}
			m.Back[ref], b.Ref = b.Ref, ref
		}
	}
	m.Conv = c.With(ms)
	return m
}

// A fixedPart is the instructions and tools of a request.
type fixedPart struct {
	system, tools []byte // as they were sent; nil: none
	text          string // the instructions
}

// fixed returns the instructions and tools that were sent.
func (p *pastOf) fixed(ctx context.Context, version decant.Hash) (*fixedPart, error) {
	f, err := p.Fixed(ctx, p.tenant, version)
	if errors.Is(err, store.ErrNotFound) { // there are none, or the process ended before they were stored
		return &fixedPart{text: p.system}, nil
	}
	if err != nil {
		return nil, err
	}
	out := &fixedPart{system: f.System, tools: f.Tools}
	var blocks []struct {
		Text string `json:"text"`
	}
	if len(f.System) > 0 {
		if err := json.Unmarshal(f.System, &blocks, lenient); err != nil {
			return nil, fmt.Errorf("read the instructions that were sent: %w: %w", store.ErrCorrupt, err)
		}
	}
	for _, b := range blocks {
		out.text += b.Text
	}
	return out, nil
}

// body returns a request for messages.
func (f *fixedPart) body(h history) []byte {
	b := []byte(`{"model":"","max_tokens":1`)
	if f.tools != nil {
		b = append(append(b, `,"tools":`...), f.tools...)
	}
	if f.system != nil {
		b = append(append(b, `,"system":`...), f.system...)
	}
	b = append(b, `,"messages":[`...)
	for i, m := range h {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, m...)
	}
	return append(b, `]}`...)
}

// decisions returns those that were in force, and the checkpoints that theirs has taken in: of the conversation of the request, of those
// that it was forked from, or, where the process ended before a fork was stored, of any of the session.
func (p *pastOf) decisions(ctx context.Context, n *sending) (inForce, before []decant.Decision, err error) {
	if len(n.decisions) == 0 {
		return nil, nil, nil
	}
	known := map[string]decant.Decision{}
	if err := p.learn(ctx, known, n.conversation); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, nil, err
	}
	if out, ok := chosen(known, n.decisions); ok {
		return out, folded(known, out), nil
	}
	others, err := p.Conversations(ctx, store.Filter{Tenant: p.tenant, Session: p.root})
	if err != nil {
		return nil, nil, err
	}
	for i := range others {
		if err := p.learn(ctx, known, others[i].ID); err != nil {
			return nil, nil, err
		}
	}
	out, ok := chosen(known, n.decisions)
	if !ok {
		return nil, nil, fmt.Errorf("%w: a decision is not stored any longer", ErrNotTheSame)
	}
	return out, folded(known, out), nil
}

// learn adds the decisions of a conversation, and of those that it was forked from.
func (p *pastOf) learn(ctx context.Context, known map[string]decant.Decision, id string) error {
	for id != "" {
		s, err := p.Load(ctx, store.Key{Tenant: p.tenant, ID: id}, store.Newest)
		if err != nil {
			return err
		}
		for _, d := range s.Decisions {
			known[d.ID] = d
		}
		if id = ""; s.Origin != nil {
			id = s.Origin.Parent
		}
	}
	return nil
}

// chosen returns the decisions with ids, and whether all of them are known.
func chosen(known map[string]decant.Decision, ids []string) (out []decant.Decision, all bool) {
	for _, id := range ids {
		d, ok := known[id]
		if !ok {
			return nil, false
		}
		out = append(out, d)
	}
	return out, true
}

// folded returns the checkpoints that the one in force has taken in, newest first.
func folded(known map[string]decant.Decision, inForce []decant.Decision) (out []decant.Decision) {
	made := map[int]decant.Decision{}
	for _, d := range known {
		if d.Checkpoint != nil {
			if was, ok := made[d.Checkpoint.Number]; !ok || was.Created.Before(d.Created) {
				made[d.Checkpoint.Number] = d // of forks that each have one of a number, the newest
			}
		}
	}
	for cp := decant.CheckpointIn(inForce); cp != nil && cp.Folds > 0 && cp.Folds < cp.Number; {
		d, ok := made[cp.Folds]
		if !ok {
			break
		}
		out, cp = append(out, d), d.Checkpoint
	}
	return out
}
