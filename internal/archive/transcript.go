package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// A Source is what this package needs of a store.
type Source interface {
	store.Loader
	store.Blobs
	store.Log
}

// A Transcript is a conversation read from the store: every message as the client sent it, and the
// decisions about them. It is safe for concurrent use.
type Transcript struct {
	State *store.State

	// Dialect is that of the API in which the conversation was held.
	Dialect dialect.Dialect

	// Conversation holds every block verbatim, without cache markers, which belong to requests and
	// not to the conversation. Messages have the numbers of the transcript, to which decisions refer.
	Conversation *decant.Conversation

	// Answered says that the last message is the model's newest answer. The client has not sent it
	// back yet, so the chain does not hold it.
	Answered bool

	doc  *wire.Document // the conversation as a request body
	refs References
}

// ReadTranscript reads a conversation as it was at a version. If version is store.Newest, it reads it as
// it is now, with the newest answer.
func ReadTranscript(ctx context.Context, a Source, k store.Key, version int64) (*Transcript, error) {
	s, err := a.Load(ctx, k, version)
	if err != nil {
		return nil, err
	}
	rs, err := a.Requests(ctx, k)
	if err != nil {
		return nil, err
	}
	var answer []byte
	if version == store.Newest {
		if answer, err = newestAnswer(ctx, a, s, rs); err != nil {
			return nil, err
		}
	}
	t, err := rebuild(ctx, a, s, rs, answer)
	if err != nil {
		return nil, fmt.Errorf("rebuild conversation %s: %w", k.ID, err)
	}
	return t, nil
}

// ReadEntries reads some entries of a conversation in order, such as those of a handle.
func ReadEntries(ctx context.Context, a Source, k store.Key, entries []store.Entry) (*Transcript, error) {
	rs, err := a.Standing(ctx, k, 1)
	if err != nil {
		return nil, err
	}
	t, err := rebuild(ctx, a, &store.State{Conversation: store.Conversation{Key: k}, Chain: entries}, rs, nil)
	if err != nil {
		return nil, fmt.Errorf("read entries of conversation %s: %w", k.ID, err)
	}
	return t, nil
}

// ReadRequest reads a conversation as a stored request held it: as much of the transcript as it had, under
// the decisions that were in force for it. A client that goes back to an earlier point is sent that beginning
// without the pours that came later, though the version that its request names has them.
func ReadRequest(ctx context.Context, a Source, k store.Key, r *store.Request) (*Transcript, error) {
	s, err := a.Load(ctx, k, r.Version)
	if err != nil {
		return nil, err
	}
	n := min(r.Length, len(s.Chain))
	b, err := a.Branch(ctx, k, s.Version, n, n)
	if err != nil {
		return nil, err
	}
	t, err := ReadEntries(ctx, a, k, s.Chain[:n])
	if err != nil {
		return nil, err
	}
	t.State.Conversation, t.State.Decisions = s.Conversation, slices.Concat(b.Decisions, b.Arrived(s))
	return t, nil
}

// ReadAnswered returns the body of a stored request with the answer to it behind: all that was said up to there, in the
// client's own words, nothing poured. An answer that was not kept is an error that wraps store.ErrNotFound.
func ReadAnswered(ctx context.Context, a Source, k store.Key, r *store.Request) ([]byte, error) {
	if r.Answer.IsZero() {
		return nil, fmt.Errorf("answer to request %s: %w", r.ID, store.ErrNotFound)
	}
	s, err := a.Load(ctx, k, r.Version)
	if err != nil {
		return nil, err
	}
	answer, err := a.Blobs(ctx, k.Tenant, r.Answer)
	if err != nil {
		return nil, fmt.Errorf("read an answer: %w", err)
	}
	s.Chain, s.Head.Fixed = s.Chain[:min(r.Length, len(s.Chain))], r.Fixed
	t, err := rebuild(ctx, a, s, []store.Request{*r}, answer[0])
	if err != nil {
		return nil, err
	}
	return t.doc.Source, nil
}

// View returns what the model is sent of the conversation: the transcript under the decisions that
// are in force.
func (t *Transcript) View() (*decant.Conversation, error) {
	return decant.View(t.Conversation, t.State.Live())
}

// Verbatim returns a view of the conversation as the body of a request to its API, with the client's own
// bytes wherever the view is verbatim. It tells the provider to leave out nothing beyond what the client asked for.
func (t *Transcript) Verbatim(view *decant.Conversation) ([]byte, error) {
	return t.doc.Render(t.refs.InRequest(view))
}

// Body returns a view of the conversation as the body of a request to its API, with the
// client's own bytes wherever the view is verbatim. What the provider leaves out of the prompt is in it
// unchanged, with the instruction to leave it out.
func (t *Transcript) Body(view *decant.Conversation) ([]byte, error) {
	body, err := cleared(t, view)
	if err != nil {
		return nil, err
	}
	if d, ok := t.Dialect.(dialect.Pauser); ok && dialect.Summarised(view) &&
		d.Unsigned(view.Messages[0].Blocks[0].Text()) {
		return d.Rule(body, dialect.Rules{Summary: 1}) // which such a summary does not go without
	}
	return body, nil
}

// cleared returns a view as a body with the instruction to leave out what is in it unchanged and not in the view.
func cleared(t *Transcript, view *decant.Conversation) ([]byte, error) {
	native := policy.NativeIn(t.State.Live())
	if native == nil {
		return t.Verbatim(view)
	}
	sent, err := decant.View(t.Conversation, decant.Sent(t.State.Live()))
	if err != nil {
		return nil, err
	}
	c, ok := t.clearing(view, native)
	if !ok {
		return nil, fmt.Errorf("the provider cannot be asked to clear just what the view lacks: %w", decant.ErrIllegal)
	}
	body, err := t.doc.Render(t.refs.InRequest(unclear(view, sent, native)))
	if err != nil || c == nil {
		return body, err
	}
	return c.Ask(body)
}

// clearing returns what a request has to ask the provider for so that the model reads a view; see dialect.Clearer.
func (t *Transcript) clearing(view *decant.Conversation, native func(id string) bool) (dialect.ProviderClearing, bool) {
	d, ok := t.Dialect.(dialect.Clearer)
	if !ok {
		return nil, false
	}
	return d.Clearing(view, native)
}

// newestAnswer returns the content of the answer to the newest of the requests rs; nil if there is none,
// or if the conversation has moved on since.
func newestAnswer(ctx context.Context, a Source, s *store.State, rs []store.Request) ([]byte, error) {
	if len(rs) == 0 {
		return nil, nil
	}
	r := &rs[len(rs)-1]
	if r.Answer.IsZero() || r.Length != len(s.Chain) || len(s.Chain) == 0 {
		return nil, nil
	}
	then, err := a.Load(ctx, s.Key, r.Version)
	if err != nil {
		return nil, err
	}
	if len(then.Chain) != len(s.Chain) || then.Chain[len(then.Chain)-1].Raw != s.Chain[len(s.Chain)-1].Raw {
		return nil, nil
	}
	content, err := a.Blobs(ctx, s.Tenant, r.Answer)
	if err != nil {
		return nil, fmt.Errorf("read the newest answer: %w", err)
	}
	return content[0], nil
}

// rebuild writes the conversation as the body of a request, with the parameters of the newest request of
// rs, and parses it.
func rebuild(ctx context.Context, a Source, s *store.State, rs []store.Request, answer []byte) (*Transcript, error) {
	d, err := dialectOf(rs)
	if err != nil {
		return nil, err
	}
	p := &dialect.Parts{Model: s.Head.Model, Answer: answer}
	if p.Params, err = params(ctx, a, s, rs); err != nil {
		return nil, err
	}
	if err := addFixed(ctx, a, s, p); err != nil {
		return nil, err
	}
	if err := addMessages(ctx, a, s, p); err != nil {
		return nil, err
	}
	doc, err := d.Parse(d.Assemble(p))
	if err != nil {
		return nil, err
	}
	doc.Conversation.ID, doc.Conversation.Agent = s.Session, s.Agent
	t := &Transcript{State: s, Dialect: d, Answered: answer != nil, doc: doc, refs: numberingOf(doc.Conversation, s.Chain)}
	t.Conversation = t.refs.Conv
	return t, nil
}

// dialectOf returns the dialect of a conversation by its requests.
func dialectOf(rs []store.Request) (dialect.Dialect, error) {
	if len(rs) == 0 {
		return index.Default, nil
	}
	return index.Named(rs[len(rs)-1].API)
}

// addFixed adds system prompt and tools as the client sent them last.
func addFixed(ctx context.Context, a Source, s *store.State, p *dialect.Parts) error {
	if s.Head.Fixed.IsZero() {
		return nil
	}
	f, err := a.Fixed(ctx, s.Tenant, s.Head.Fixed)
	if err != nil {
		return err
	}
	p.System, p.Tools = f.System, f.Tools
	return nil
}

// addMessages adds the entries, those of one message together.
func addMessages(ctx context.Context, a Source, s *store.State, p *dialect.Parts) error {
	raws := make([]decant.Hash, len(s.Chain))
	for i := range s.Chain {
		raws[i] = s.Chain[i].Raw
	}
	blocks, err := a.Blobs(ctx, s.Tenant, raws...)
	if err != nil {
		return err
	}
	for i := range s.Chain {
		e := &s.Chain[i]
		if i == 0 || s.Chain[i-1].Message != e.Message {
			p.Messages = append(p.Messages, dialect.Message{Role: e.Role})
		}
		m := &p.Messages[len(p.Messages)-1]
		m.Blocks = append(m.Blocks, dialect.Block{Kind: e.Kind, Bytes: blocks[i]})
	}
	return nil
}
