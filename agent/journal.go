package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/store"
)

// patience is how long a step may take to be written. It does not end with the run: how a run that was interrupted ends is written
// down, too.
const patience = 10 * time.Second

// sessionKind is the kind of the journals of sessions.
const sessionKind = "session"

// key returns under which key the journal of the session is kept.
func (s *Session) key() store.Key { return store.Key{Tenant: s.agent.opts.Tenant, ID: s.id} }

// do lets a step happen, after it was written down. The session is locked.
func (s *Session) do(p *step) error {
	if s.broken != nil {
		return s.broken
	}
	p.Time = s.agent.opts.Now().UTC()
	if s.written == 0 && p.Root == "" {
		p.Root = s.state.root
	}
	next := s.state.after(p)
	if s.agent.opts.Journals != nil {
		if err := s.write(p, &next); err != nil {
			s.broken = fmt.Errorf("agent: session %s: %w", s.id, err)
			return s.broken
		}
	}
	s.state = next
	s.written++
	return nil
}

// write writes a step into the journal. Where a run begins or ends, what the session is known by after it goes with it.
func (s *Session) write(p *step, after *state) error {
	b, err := json.Marshal(p, lenient)
	if err != nil {
		return fmt.Errorf("write a step: %w", err)
	}
	a := &store.Addition{Key: s.key(), Length: s.written, Kind: sessionKind, Conversation: s.conversation, Time: p.Time, Steps: [][]byte{b}}
	if s.written == 0 || p.Began || p.Resumed || p.Stop != "" || p.Title != "" || len(p.Labels) > 0 {
		under := p.Stop == "" && (s.busy || p.Began || p.Resumed)
		if a.Head, err = json.Marshal(s.head(after, under)); err != nil {
			return fmt.Errorf("write a step: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = s.agent.opts.Journals.AddSteps(ctx, a)
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("%w: %w", ErrTaken, err)
	}
	return err
}

// A Summary describes a kept session.
type Summary struct {
	ID      string            `json:"-"`
	Title   string            `json:"title"` // its first words, if nobody has named it
	Project string            `json:"project,omitzero"`
	Model   string            `json:"model"`
	Turns   int               `json:"turns"`            // things that the user said
	Waiting bool              `json:"waiting,omitzero"` // calls wait to be allowed
	Running bool              `json:"running,omitzero"` // a run has begun and not ended, here or elsewhere, or was interrupted
	Root    string            `json:"root"`             // see Session.Root
	Bytes   int64             `json:"bytes,omitzero"`   // of its messages
	Owner   string            `json:"owner,omitzero"`   // of the run that is under way, see Options
	Labels  map[string]string `json:"labels,omitzero"`  // see Session.SetLabels
	Spent   Spent             `json:"spent,omitzero"`   // by all runs
	Created time.Time         `json:"-"`
	Updated time.Time         `json:"-"`
}

// titleRunes is how many characters of the first words are a title.
const titleRunes = 80

// head returns what a state is known by. under says that a run of this process is under way: nobody else's is its own.
func (s *Session) head(st *state, under bool) *Summary {
	h := &Summary{Title: st.title, Project: s.agent.opts.Project, Model: s.agent.opts.Model, Waiting: st.round.waits(), Running: st.running, Root: st.root, Labels: st.labels, Spent: st.total}
	if st.running && under {
		h.Owner = s.agent.opts.Owner
	}
	for _, m := range st.history {
		h.Bytes += int64(len(m))
		text, ok := s.agent.turnOf(m)
		if !ok {
			continue
		}
		if h.Turns++; h.Title == "" {
			h.Title = firstRunes(text, titleRunes)
		}
	}
	return h
}

// mostTitle is how many characters a title may have.
const mostTitle = 200

// ErrTitle means that a text is no title.
var ErrTitle = fmt.Errorf("a title has 1 to %d characters", mostTitle)

// Rename gives the session a title. One that is empty or longer than 200 characters is ErrTitle.
func (s *Session) Rename(title string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := utf8.RuneCountInString(title); n == 0 || n > mostTitle {
		return fmt.Errorf("agent: %w: %d", ErrTitle, n)
	}
	return s.do(&step{Title: title})
}

// Open opens a session that was kept by Options.Journals, as it was left: what was said, which calls wait, what was said to its run and
// not yet read. An unknown one is store.ErrNotFound.
func (a *Agent) Open(ctx context.Context, id string) (*Session, error) {
	if a.opts.Journals == nil {
		return nil, errors.New("agent: Options.Journals is missing: without it sessions are not kept")
	}
	s := a.Session(id)
	j, err := s.state.read(ctx, a.opts.Journals, s.key())
	if err != nil {
		return nil, err
	}
	s.written, s.conversation = j.Length, j.Conversation
	return s, nil
}

// read takes all steps of a journal, which it describes.
func (st *state) read(ctx context.Context, from store.Journals, k store.Key) (*store.Journal, error) {
	j, err := from.Journal(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("agent: open session %s: %w", k.ID, err)
	}
	steps, err := from.Steps(ctx, k, 0, j.Length)
	if err != nil {
		return nil, fmt.Errorf("agent: open session %s: %w", k.ID, err)
	}
	for i, b := range steps {
		var p step
		if err := json.Unmarshal(b, &p, lenient); err != nil {
			return nil, fmt.Errorf("agent: open session %s: step %d: %w: %w", k.ID, i+1, store.ErrCorrupt, err)
		}
		st.take(&p)
	}
	j.Length = len(steps)
	return j, nil
}

// Sessions returns the sessions of the agent's tenant that were kept, last changed first: those that changed before a time, the zero
// time meaning any, at most limit of them, 0 meaning 1000. Agents on the same journals see each other's.
func (a *Agent) Sessions(ctx context.Context, before time.Time, limit int) (out []Summary, err error) {
	if a.opts.Journals == nil {
		return nil, errors.New("agent: Options.Journals is missing: without it sessions are not kept")
	}
	js, err := a.opts.Journals.Journals(ctx, store.JournalQuery{Tenant: a.opts.Tenant, Kind: sessionKind, Before: before, Limit: limit})
	for _, j := range js {
		sum := Summary{ID: j.ID, Created: j.Created, Updated: j.Updated}
		if err := json.Unmarshal(j.Head, &sum, lenient); err != nil {
			return nil, fmt.Errorf("agent: session %s: its head: %w: %w", j.ID, store.ErrCorrupt, err)
		}
		out = append(out, sum)
	}
	return out, err
}
