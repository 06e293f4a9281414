package archive

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/refs"
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

	// Conversation holds every block verbatim, without cache markers, which belong to requests and
	// not to the conversation. Messages have the numbers of the transcript, to which decisions refer.
	Conversation *decant.Conversation

	// Answered says that the last message is the model's newest answer. The client has not sent it
	// back yet, so the chain does not hold it.
	Answered bool

	doc  *wire.Document // the conversation as a request body
	refs refs.Map
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

// ReadEntries reads some entries of a conversation in order, such as those that a handle stands for.
func ReadEntries(ctx context.Context, a Source, k store.Key, entries []store.Entry) (*Transcript, error) {
	t, err := rebuild(ctx, a, &store.State{Conversation: store.Conversation{Key: k}, Chain: entries}, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read entries of conversation %s: %w", k.ID, err)
	}
	return t, nil
}

// View returns what the model is sent of the conversation: the transcript under the decisions that
// are in force.
func (t *Transcript) View() (*decant.Conversation, error) {
	return decant.View(t.Conversation, t.State.Live())
}

// Verbatim returns a view of the conversation as the body of a request to the Messages API, with the client's own
// bytes wherever the view is verbatim. It tells the provider to leave out nothing beyond what the client asked for.
func (t *Transcript) Verbatim(view *decant.Conversation) ([]byte, error) {
	return t.doc.Render(t.refs.InRequest(view))
}

// Body returns a view of the conversation as the body of a request to the Messages API, with the
// client's own bytes wherever the view is verbatim. What the provider leaves out of the prompt is in it
// unchanged, with the instruction to leave it out. anthropic.BetasOf says which betas the request needs.
func (t *Transcript) Body(view *decant.Conversation) ([]byte, error) {
	native := decant.NativeIn(t.State.Live())
	if native == nil {
		return t.Verbatim(view)
	}
	sent, err := decant.View(t.Conversation, decant.Sent(t.State.Live()))
	if err != nil {
		return nil, err
	}
	c, ok := anthropic.ClearingOf(view, native)
	if !ok {
		return nil, fmt.Errorf("the provider cannot be asked to clear just what the view lacks: %w", decant.ErrIllegal)
	}
	body, err := t.doc.Render(t.refs.InRequest(unclear(view, sent, native)))
	if err != nil || c == nil {
		return body, err
	}
	return c.Ask(body)
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
	raws := make([]decant.Hash, len(s.Chain))
	for i := range s.Chain {
		raws[i] = s.Chain[i].Raw
	}
	blocks, err := a.Blobs(ctx, s.Tenant, raws...)
	if err != nil {
		return nil, err
	}
	params, err := frame(ctx, a, s, rs)
	if err != nil {
		return nil, err
	}
	w := bodyWriter{out: params[: len(params)-1 : len(params)-1]}
	if err := w.fixed(ctx, a, s); err != nil {
		return nil, err
	}
	body := w.messages(s.Chain, blocks, answer)
	doc, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		return nil, err
	}
	doc.Conversation.ID, doc.Conversation.Agent = s.Session, s.Agent
	t := &Transcript{State: s, Answered: answer != nil, doc: doc, refs: numberingOf(doc.Conversation, s.Chain)}
	t.Conversation = t.refs.Conv
	return t, nil
}

// A bodyWriter writes a stored conversation as the body of a request.
type bodyWriter struct{ out []byte }

// fixed writes system prompt and tools as the client sent them last.
func (w *bodyWriter) fixed(ctx context.Context, a Source, s *store.State) error {
	if s.Head.Fixed.IsZero() {
		return nil
	}
	f, err := a.Fixed(ctx, s.Tenant, s.Head.Fixed)
	if err != nil {
		return err
	}
	if f.System != nil {
		w.out = append(w.out, `,"system":`...)
		w.blocks(f.System)
	}
	if f.Tools != nil {
		w.out = append(w.out, `,"tools":`...)
		w.blocks(f.Tools)
	}
	return nil
}

// messages writes the entries, grouped by message, and the answer, and ends the body.
func (w *bodyWriter) messages(chain []store.Entry, blocks [][]byte, answer []byte) []byte {
	w.out = append(w.out, `,"messages":[`...)
	for i := range chain {
		e := &chain[i]
		if i == 0 || chain[i-1].Message != e.Message {
			w.begin(i > 0, e.Role)
		} else {
			w.out = append(w.out, ',')
		}
		w.block(blocks[i])
		if i+1 == len(chain) || chain[i+1].Message != e.Message {
			w.out = append(w.out, "]}"...)
		}
	}
	if answer != nil {
		w.begin(true, decant.RoleAssistant)
		w.out = append(w.out[:len(w.out)-1], answer...)
		w.out = append(w.out, '}')
	}
	return append(w.out, "]}"...)
}

func (w *bodyWriter) begin(more bool, role decant.Role) {
	if more {
		w.out = append(w.out, ',')
	}
	w.out = jsonspan.AppendQuote(append(w.out, `{"role":`...), string(role))
	w.out = append(w.out, `,"content":[`...)
}

// blocks writes a list of blocks, or the string that stands for one.
func (w *bodyWriter) blocks(list []byte) {
	sc := jsonspan.Scan(list, 0)
	if sc.Kind() != '[' {
		w.out = append(w.out, list...)
		return
	}
	w.out = append(w.out, '[')
	more := false
	for sc.Open(); sc.Next(); more = true {
		if more {
			w.out = append(w.out, ',')
		}
		w.block(sc.Skip().Of(list))
	}
	w.out = append(w.out, ']')
}

// block writes one block without its cache marker; a string becomes a block of text. Members keep
// their order and bytes.
func (w *bodyWriter) block(raw []byte) {
	sc := jsonspan.Scan(raw, 0)
	switch sc.Kind() {
	case '{':
	case '"':
		w.out = append(append(append(w.out, `{"type":"text","text":`...), raw...), '}')
		return
	default:
		w.out = append(w.out, raw...)
		return
	}
	w.out = append(w.out, '{')
	more := false
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		value := sc.Skip().Of(raw)
		if name == "cache_control" {
			continue
		}
		if more {
			w.out = append(w.out, ',')
		}
		more = true
		w.out = append(jsonspan.AppendQuote(w.out, name), ':')
		if name == "content" {
			w.blocks(value)
		} else {
			w.out = append(w.out, value...)
		}
	}
	w.out = append(w.out, '}')
}
