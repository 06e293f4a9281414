package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// errUnsealed means that what would be sent for a session that Agent.Start began is not what its snapshot holds, though its
// window has room for that, and that nothing could be done about it. Nothing was sent.
var errUnsealed = errors.New("what would be sent is not the sealed snapshot")

// A Snapshot is a conversation as it was sent when its model asked for a round of calls. It is sealed: whatever is said, called or
// poured afterwards, by anybody, it stays as it is, and so does its hash.
//
// It ends before the answer with the calls. That answer is a round without results as long as they are made, which the API takes from
// nobody; results that say "not known yet" would be other bytes than the model has ever been sent, and would tell each of several
// delegates of its siblings' tasks. What ends before it is what the provider has in its cache.
type Snapshot struct {
	session, root string
	system        string
	messages      history
	body          func() ([]byte, error) // as it was sent
	model         string
	sized         sized // as that model counts it

	once sync.Once
	sent []stdjson.RawMessage
	hash string
	err  error
}

// snapshotKey is the key of the snapshot in the context of a call.
type snapshotKey struct{}

// SnapshotOf returns the snapshot of the round that a call belongs to, by the context that the call was given; nil where there is none.
func SnapshotOf(ctx context.Context) *Snapshot {
	s, _ := ctx.Value(snapshotKey{}).(*Snapshot)
	return s
}

// snapshot returns the snapshot of what is being answered, nil for an answer that asks for no calls.
func (r *run) snapshot(p *engine.Prepared, a *provider.Answer) *Snapshot {
	if len(callsIn(a.Content)) == 0 {
		return nil
	}
	sent := p.Body
	return &Snapshot{session: r.id, root: r.root, system: r.agent.opts.System, messages: r.Messages(),
		body: func() ([]byte, error) { return sent, nil }, model: r.agent.opts.Model, sized: sized{sizeOf(p), a.Usage.Prompt()}}
}

// again returns the snapshot of calls that the model asked for in another process. The engine says once more what was sent.
func (r *run) again() *Snapshot {
	h := r.Messages()
	s := &Snapshot{session: r.id, root: r.root, system: r.agent.opts.System, messages: h[:len(h)-1],
		model: r.agent.opts.Model, sized: r.meter.sized}
	q := (&asking{run: r}).request(s.messages, false, r.agent.opts.MaxTokens)
	s.body = func() ([]byte, error) {
		p, err := r.agent.opts.Engine.Prepare(r.ctx, q)
		if err != nil {
			return nil, fmt.Errorf("find what was sent: %w", err)
		}
		r.drop(p)
		return p.Body, nil
	}
	return s
}

// Session returns the id of the session that it was made of.
func (s *Snapshot) Session() string { return s.session }

// Messages returns what had been said, with nothing poured.
func (s *Snapshot) Messages() []stdjson.RawMessage { return slices.Clone(s.messages) }

// Sent returns the messages as they were sent, poured as they were, without markers for the provider's cache. Those move from request to
// request and are no part of what a model reads.
func (s *Snapshot) Sent() ([]stdjson.RawMessage, error) {
	s.once.Do(func() {
		var body []byte
		if body, s.err = s.body(); s.err != nil {
			return
		}
		if s.sent, s.err = sentIn(body); s.err == nil {
			s.hash = sealOf(s.system, s.sent)
		}
	})
	return slices.Clone(s.sent), s.err
}

// Hash returns the SHA-256 of the instructions and of the bytes of Sent, in hexadecimal digits; empty if Sent fails.
func (s *Snapshot) Hash() string {
	_, _ = s.Sent() // without them there is no hash
	return s.hash
}

// A seal binds a session to the snapshot that it began with, until its model has answered.
type seal struct {
	of     *Snapshot
	poured bool // the window has no room for the snapshot
	apart  bool // the session has a conversation of its own in the store
	broken bool // an answer has come
}

// Start begins a session with what a snapshot holds, poured as it is there. What the session is told next comes as a message of the
// user behind it. The agent should have the engine and the tenant of the one that the snapshot was made of, and its instructions should begin
// with the snapshot's.
//
// In the store the session is a branch of the conversation that the snapshot was made of. Where that has changed meanwhile at this very
// place, because somebody has poured it or taken a pour back, the session gets a conversation of its own, which begins with what was sent.
//
// The first request of the session holds the bytes of Sent and then what it was told, so that the provider finds them in its cache
// if model, tools and instructions are the same. Nothing is poured of it unless the window of the agent, as its preset
// limits it, has no room: what is sent then is a projection of the snapshot, with a hash of its own (Session.Projection). Any other
// difference is errUnsealed. A pour that the session needs later is its own.
//
// Where Options.Journals keeps a session with that id, it is opened as it was left. It must have been begun with the same snapshot.
func (a *Agent) Start(ctx context.Context, s *Snapshot, id string) (*Session, error) {
	if a.opts.Journals != nil && id != "" {
		n, err := a.Open(ctx, id)
		if err == nil {
			return n, n.bind(s)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	n := a.Session(id)
	n.seal = &seal{of: s}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.model == a.opts.Model {
		n.state.sized = sized{s.sized.counted, s.sized.counted} // the engine goes on from what was counted
	}
	return n, n.do(&step{Root: s.root, Messages: slices.Clone(s.messages)})
}

// bind binds a session that was opened to the snapshot that it was begun with.
func (s *Session) bind(of *Snapshot) error {
	h, sent := s.state.history, []stdjson.RawMessage(of.messages)
	apart := s.state.root != of.root
	if apart {
		var err error
		if sent, err = of.Sent(); err != nil {
			return err
		}
	}
	if !beginsWith(h, sent) {
		return fmt.Errorf("agent: session %s was not begun with snapshot %.*s", s.id, shortHash, of.Hash())
	}
	answered := slices.ContainsFunc(h[len(sent):], func(m stdjson.RawMessage) bool { return !bytes.HasPrefix(m, []byte(userStart)) })
	s.seal = &seal{of: of, apart: apart, broken: answered}
	return nil
}

// shortHash is how many digits of a hash an error shows.
const shortHash = 12

// beginsWith reports whether messages begin with others.
func beginsWith(ms, with []stdjson.RawMessage) bool {
	return len(ms) >= len(with) && slices.EqualFunc(ms[:len(with)], with, func(a, b stdjson.RawMessage) bool { return bytes.Equal(a, b) })
}

// Projection returns the hash of what was sent of the snapshot that the session began with: the snapshot's own, or another one where
// it had to be poured to fit, or where the instructions of the agent do not begin with the snapshot's. It is empty before
// anything was sent, and in sessions that began with no snapshot.
func (s *Session) Projection() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.labels[projectionLabel]
}

// projectionLabel is the label under which a session that began with a snapshot keeps the hash of what was sent of it.
const projectionLabel = "projection"

// sealed reports whether the model has still to answer to what follows a snapshot.
func (s *Session) sealed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seal != nil && !s.seal.broken
}

// unseal notes that the model has answered.
func (s *Session) unseal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seal != nil {
		s.seal.broken = true
	}
}

// spare returns how many tokens the window must keep for the answer to what follows a snapshot, which is poured for nothing else; 0: the
// policy of the agent holds.
func (r *asking) spare() int {
	if r.sealed() {
		return r.mostAnswer(nil)
	}
	return 0
}

// checkSeal holds what is about to be sent against the snapshot that the session began with.
func (r *asking) checkSeal(p *engine.Prepared) error {
	if !r.sealed() {
		return nil
	}
	of := r.seal.of
	got, same, err := of.heldBy(p.Body)
	if err != nil {
		return err
	}
	system := r.agent.opts.System
	hash := sealOf(system, got[:max(0, len(got)-1)])
	switch {
	case same && strings.HasPrefix(system, of.system):
		hash = of.Hash()
	case !same && !r.seal.poured:
		return fmt.Errorf("%w %.*s", errUnsealed, shortHash, of.Hash())
	}
	if r.Projection() == hash {
		return nil
	}
	return r.step(&step{Labels: map[string]string{projectionLabel: hash}})
}

// heldBy returns the messages of a request, and whether they begin with the snapshot.
func (s *Snapshot) heldBy(body []byte) (messages []stdjson.RawMessage, same bool, err error) {
	want, err := s.Sent()
	if err != nil {
		return nil, false, err
	}
	messages, err = sentIn(body)
	return messages, len(messages) > len(want) && beginsWith(messages, want), err
}

// part gives the session a conversation of its own if what was prepared of the one that its snapshot was made of is something else than
// the snapshot, and the window has room for the snapshot. It reports whether it did.
func (r *asking) part(p *engine.Prepared) (bool, error) {
	if !r.sealed() || r.seal.apart {
		return false, nil
	}
	of := r.seal.of
	_, same, err := of.heldBy(p.Body)
	if same || err != nil {
		return false, err
	}
	sent, err := of.Sent()
	if err != nil {
		return false, err
	}
	h := append(sent, r.Messages()[len(of.messages):]...)
	if r.seal.poured {
		if fits, err := r.fits(h); !fits || err != nil {
			return false, err
		}
	}
	none := 0
	r.root, r.seal.apart = r.id, true
	r.seal.poured, r.poured, r.owed = false, nil, false // that was of what is not sent
	return true, r.step(&step{Root: r.id, Keep: &none, Messages: h})
}

// fits reports whether a history of a conversation of its own is sent as it is. What was made of a snapshot's conversation may have been
// poured although the snapshot itself has room: somebody may have taken a pour back since, or the engine may know nothing of it.
func (r *asking) fits(h history) (bool, error) {
	q := r.request(h, false, r.spare())
	q.Session, q.Project, q.Count = r.id, "", true
	p, err := r.patiently(q)
	if err != nil {
		return false, err
	}
	defer r.drop(p)
	return p.Report.Reason == "", nil
}

// sealOf returns the hash of instructions and messages.
func sealOf(system string, messages []stdjson.RawMessage) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s", len(system), system)
	for _, m := range messages {
		fmt.Fprintf(h, "%d\n%s", len(m), m) // the lengths tell where one ends
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sentIn returns the messages of a request, without markers.
func sentIn(body []byte) ([]stdjson.RawMessage, error) {
	var request struct {
		Messages []stdjson.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &request, lenient); err != nil {
		return nil, fmt.Errorf("read what was sent: %w", err)
	}
	for i, m := range request.Messages {
		plain, err := unmarked(m)
		if err != nil {
			return nil, fmt.Errorf("read message %d of what was sent: %w", i, err)
		}
		request.Messages[i] = plain
	}
	return request.Messages, nil
}

// marker is where a marker for the cache stands in a message: in a block, or in a block of a result.
var marker = regexp.MustCompile(`^/content/\d+(/content/\d+)?/cache_control$`)

// unmarked returns a message without the markers of its blocks. Nothing else of it changes.
func unmarked(m stdjson.RawMessage) (stdjson.RawMessage, error) {
	if !bytes.Contains(m, []byte(`"cache_control"`)) {
		return m, nil
	}
	var out stdjson.RawMessage
	kept := int64(0)
	for d := jsontext.NewDecoder(bytes.NewReader(m), lenient); ; {
		start := d.InputOffset()
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return append(out, m[kept:]...), nil
		} else if err != nil {
			return nil, err
		}
		if k, n := d.StackIndex(d.StackDepth()); k != jsontext.KindBeginObject || n%2 == 0 || !marker.MatchString(string(d.StackPointer())) {
			continue // no name
		}
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
		out = append(out, m[kept:start]...)
		if kept = d.InputOffset(); m[start-1] == '{' { // the first member: the comma behind it goes
			rest := bytes.TrimLeft(m[kept:], " \t\r\n")
			kept = int64(len(m) - len(bytes.TrimPrefix(rest, []byte(","))))
		}
	}
}
