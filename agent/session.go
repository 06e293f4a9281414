package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrRunning means that the session has a run under way.
	ErrRunning = errors.New("the session has a run under way")

	// ErrWaiting means that calls wait for a verdict before anything else can happen.
	ErrWaiting = errors.New("calls of the session wait to be allowed: Resume comes first")

	// ErrUnknown means that a verdict is about a call that does not wait for one.
	ErrUnknown = errors.New("no such call waits to be allowed")
)

// A Session is one conversation of an agent. Its methods may be called by several goroutines at once, but there is one run at a
// time. It lives in its process: what is stored of it is what the engine keeps of every conversation.
type Session struct {
	agent *Agent
	id    string
	root  string // id of the session that it was forked from in the end: in the store they are branches of one conversation

	mu      sync.Mutex
	history history
	running bool
	round   *round   // whose calls wait to be allowed, nil: none
	steered []string // what was said to the run under way and not yet read
}

// A round is the calls that one answer of the model asks for.
type round struct {
	calls    []Call
	verdicts []Verdict // of each call; Ask: it waits
	meter    meter     // of the run that waits for them
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.id }

// Messages returns what was said so far, each message as a JSON object of the Messages API.
func (s *Session) Messages() []jsontext.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.history)
}

// Fork returns a new session that begins with what was said in this one, and with what was poured of it. Nothing that happens to
// either reaches the other. A session with a run under way, or with calls that wait, cannot be forked: ErrRunning, ErrWaiting.
func (s *Session) Fork(id string) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.free(); err != nil {
		return nil, err
	}
	f := s.agent.Session(id)
	f.root = s.root
	f.history = slices.Clone(s.history)
	return f, nil
}

// free says why nothing new can begin.
func (s *Session) free() error {
	switch {
	case s.running:
		return ErrRunning
	case s.round != nil:
		return ErrWaiting
	}
	return nil
}

// Run says text to the agent and yields what happens until the run ends. The last event is EventDone; where the run has failed,
// its error stands beside that event. Whoever leaves the loop early interrupts the run: what came stays.
func (s *Session) Run(ctx context.Context, text string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		err := s.start(func() error {
			if err := s.free(); err != nil {
				return err
			}
			if text == "" {
				return errors.New("agent: there is nothing to say")
			}
			s.history = append(s.history, said(append(s.steered, text)...))
			s.steered = nil
			return nil
		})
		if err != nil {
			yield(Event{Kind: EventDone, Outcome: &Outcome{Stop: StopFailed}}, err)
			return
		}
		newRun(ctx, s, yield).work(Event{Kind: EventUser, Text: text}, nil)
	}
}

// Resume says what is to be done about a call that waits to be allowed, and goes on with the run when no other one waits.
func (s *Session) Resume(ctx context.Context, call string, v Verdict) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var r *round
		err := s.start(func() (err error) { r, err = s.decided(call, v); return err })
		switch {
		case err != nil:
			yield(Event{Kind: EventDone, Outcome: &Outcome{Stop: StopFailed}}, err)
		case r == nil:
			s.stop()
			yield(Event{Kind: EventDone, Outcome: &Outcome{Stop: StopApproval}}, nil)
		default:
			n := newRun(ctx, s, yield)
			n.meter = r.meter // the run goes on, and so do its limits
			n.work(Event{}, r)
		}
	}
}

// decided takes the verdict of a call that waits, and returns the round when none waits any longer.
func (s *Session) decided(call string, v Verdict) (*round, error) {
	if s.running {
		return nil, ErrRunning
	}
	if !v.valid() {
		return nil, fmt.Errorf("agent: a verdict allows, denies, or edits with arguments that are JSON: %q", v.Kind)
	}
	if s.round == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, call)
	}
	i := slices.IndexFunc(s.round.calls, func(c Call) bool { return c.ID == call })
	if i < 0 || s.round.verdicts[i].Kind != Ask {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, call)
	}
	s.round.verdicts[i] = v
	for _, v := range s.round.verdicts {
		if v.Kind == Ask {
			return nil, nil
		}
	}
	r := s.round
	s.round = nil
	return r, nil
}

// Waiting returns the calls that wait to be allowed.
func (s *Session) Waiting() (out []Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.round == nil {
		return nil
	}
	for i, c := range s.round.calls {
		if s.round.verdicts[i].Kind == Ask {
			out = append(out, c)
		}
	}
	return out
}

// Steer says something to a run that is under way. The model reads it with the next results, or when it has ended its answer; what
// comes too late for this run, at the beginning of the next one. It returns false when there is no run.
func (s *Session) Steer(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running || text == "" {
		return false
	}
	s.steered = append(s.steered, text)
	return true
}

// start marks the session as running if do finds nothing against it.
func (s *Session) start(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	s.running = true
	return nil
}

// stop marks the session as at rest.
func (s *Session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// add appends a message.
func (s *Session) add(m jsontext.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, m)
}

// keep makes h the history.
func (s *Session) keep(h history) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = h
}

// heard returns what was said to the run since it was asked last.
func (s *Session) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.steered
	s.steered = nil
	return out
}
