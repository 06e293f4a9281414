package agent

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/decantdev/decant/store"
)

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrRunning means that the session has a run under way.
	ErrRunning = errors.New("the session has a run under way")

	// ErrWaiting means that calls wait for a verdict before anything else can happen.
	ErrWaiting = errors.New("calls of the session wait to be allowed: Resume comes first")

	// ErrUnknown means that a verdict is about a call that does not wait for one.
	ErrUnknown = errors.New("no such call waits to be allowed")

	// ErrSaid means that something was said with the same key before.
	ErrSaid = errors.New("this was said before")

	// ErrEnded means that there is nothing to go on with: the model has said all that it had to say.
	ErrEnded = errors.New("the last run of the session has come to its end")

	// ErrTaken means that somebody else, mostly another process, has gone on with the session: Agent.Open shows what was done.
	ErrTaken = errors.New("the session goes on elsewhere: open it again")
)

// A Session is one conversation of an agent. Its methods may be called by several goroutines at once, but there is one run at a
// time. Where Options.Journals is set, all that happens is written down before anything follows from it, so that Agent.Open can go
// on with the session in another process; else it lives in its process alone. After an error of the journal the session does
// nothing any more: open it again.
type Session struct {
	agent *Agent
	id    string

	mu           sync.Mutex
	state        state
	busy         bool   // a run is under way in this process
	conversation string // id under which the engine keeps what was sent last; empty: not known yet
	written      int    // steps in the journal
	broken       error  // why the journal cannot be written

	seal  *seal     // of the snapshot that it began with, nil: it began with none
	asked *Snapshot // what was sent when the model asked for the calls of the last message, if it was in this process; of the run under way
	owed  bool      // there was a pour, and the model was reminded of nothing since; of the run under way
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.id }

// Messages returns what was said so far, each message as a JSON object of the Messages API.
func (s *Session) Messages() []stdjson.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.history)
}

// Conversation returns under which key the engine keeps what was sent last, to plan, undo or pin. The id is empty until something
// was sent.
func (s *Session) Conversation() store.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Key{Tenant: s.agent.opts.Tenant, ID: s.conversation}
}

// Spent returns what all runs of the session have used.
func (s *Session) Spent() Spent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.total
}

// Interrupted reports whether a run has begun and not come to its end: because its process ended, or because it is under way in
// another one. Continue goes on with it, Run leaves it and says something else.
func (s *Session) Interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.running && !s.busy && !s.state.round.waits()
}

// Fork returns a new session of the same agent that begins with all that was said in this one, see Agent.Take.
func (s *Session) Fork(id string) (*Session, error) { return s.agent.Take(id, s, -1) }

// interrupted is the result of a call that nobody has begun to make.
const interrupted = "This call was not made: the run was interrupted."

// free says why nothing new can begin.
func (s *Session) free() error {
	switch {
	case s.broken != nil:
		return s.broken
	case s.busy:
		return ErrRunning
	case s.state.round.waits():
		return ErrWaiting
	}
	return nil
}

// Err returns why the session does nothing any more; nil while it does.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// RunOnce is Run, unless something was said with the same key before: then it is ErrSaid, and nothing is said. So whoever does not know
// whether he was heard can say it again.
func (s *Session) RunOnce(ctx context.Context, key, text string, with ...Attachment) iter.Seq2[Event, error] {
	var late []string // what was said too late for the run before
	var back *step
	return s.run(ctx, func() error {
		late, back = slices.Clone(s.state.steered), s.unsaying(key)
		return s.say(key, text, with)
	}, func(r *run) {
		r.back = back
		r.opening = func() { r.toldBy(append(late, text)...) }
	})
}

// unsaying returns what takes back what is said next; nil, where more than that would be lost. The session is locked.
func (s *Session) unsaying(key string) *step {
	if s.state.round != nil || len(s.state.steered) > 0 {
		return nil
	}
	n := len(s.state.history)
	return &step{Keep: &n, Unsaid: key}
}

// Run says text to the agent and yields what happens until the run ends. The last event is EventDone; where the run has failed,
// its error stands beside that event. Whoever leaves the loop early interrupts the run: what came stays. Where a budget of the
// engine or of Options.Budgets refuses the first request, that is a *budget.Error, the only event, and nothing was said.
func (s *Session) Run(ctx context.Context, text string, with ...Attachment) iter.Seq2[Event, error] {
	return s.RunOnce(ctx, "", text, with...)
}

// say begins a run with what the user says.
func (s *Session) say(key, text string, with []Attachment) error {
	if text == "" {
		return errors.New("agent: there is nothing to say")
	}
	if err := s.free(); err != nil {
		return err
	}
	if s.said(key) {
		return ErrSaid
	}
	var blocks [][]byte
	if rd := s.state.round; rd != nil {
		blocks = rd.blocks(interrupted)
	}
	for i := range with {
		b, err := with[i].block()
		if err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	for _, t := range append(slices.Clone(s.state.steered), text) {
		blocks = append(blocks, textBlock(t))
	}
	return s.do(&step{Began: true, Key: key, Messages: []stdjson.RawMessage{userMessage(blocks)}, Heard: len(s.state.steered)})
}

// Continue goes on with a run that has not come to its end: because its process ended, it was interrupted, or it has failed. A call
// that was under way when its process ended is made again if its tool is ReadOnly or Idempotent; of any other one the model
// is told, and whoever watches, that nobody knows what it has done. ErrEnded means that there is nothing to go on with.
func (s *Session) Continue(ctx context.Context) iter.Seq2[Event, error] {
	return s.run(ctx, func() error {
		if err := s.free(); err != nil {
			return err
		}
		h := s.state.history
		if len(h) == 0 || s.state.round == nil && !bytes.HasPrefix(h[len(h)-1], []byte(userStart)) {
			return ErrEnded
		}
		return s.do(&step{Resumed: true}) // even of a run under way: of several processes that find its own dead, one goes on
	}, func(r *run) {
		r.back = &step{}
		r.opening = func() { r.emit(Event{Kind: EventStatus, Text: "Going on..."}) }
	})
}

// Resume says what is to be done about a call that waits to be allowed, and goes on with the run when no other one waits.
func (s *Session) Resume(ctx context.Context, call string, v Verdict) iter.Seq2[Event, error] {
	return s.run(ctx, func() error {
		if err := s.free(); err != nil && !errors.Is(err, ErrWaiting) {
			return err
		}
		if !v.valid() {
			return fmt.Errorf("agent: a verdict allows, denies, or edits with arguments that are JSON: %q", v.Kind)
		}
		rd := s.state.round
		if rd == nil {
			return fmt.Errorf("%w: %s", ErrUnknown, call)
		}
		i := rd.index(call)
		if i < 0 || rd.verdicts[i].Kind != Ask {
			return fmt.Errorf("%w: %s", ErrUnknown, call)
		}
		next := rd.clone()
		next.verdicts[i] = v
		return s.do(&step{Verdicts: map[string]Verdict{call: v}, Resumed: !next.waits()})
	}, nil)
}

// run is a run of the session, if begin finds nothing against it and is not left with calls that wait.
func (s *Session) run(ctx context.Context, begin func() error, first func(*run)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s.mu.Lock()
		err := begin()
		waits := s.state.round.waits()
		s.busy = s.busy || err == nil && !waits
		s.mu.Unlock()
		switch {
		case err != nil:
			yield(Event{Kind: EventDone, Outcome: &Outcome{Stop: StopFailed}}, err)
			return
		case waits:
			yield(Event{Kind: EventDone, Outcome: &Outcome{Stop: StopApproval}}, nil)
			return
		}
		r := newRun(ctx, s, yield)
		if first != nil {
			first(r)
		}
		r.work()
	}
}

// Waiting returns the calls that wait to be allowed.
func (s *Session) Waiting() (out []Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rd := s.state.round
	if !rd.waits() {
		return nil
	}
	for i, c := range rd.calls {
		if rd.verdicts[i].Kind == Ask {
			out = append(out, c)
		}
	}
	return out
}

// Steer says something to a run that is under way. The model reads it with the next results, or when it has ended its answer; what
// comes too late for this run, at the beginning of the next one. It returns false when there is no run.
func (s *Session) Steer(text string) bool { return s.SteerOnce("", text) }

// SteerOnce is Steer, unless something was said with the same key before: then nothing is said again.
func (s *Session) SteerOnce(key, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy || text == "" {
		return false
	}
	return s.said(key) || s.do(&step{Steered: text, Key: key}) == nil
}

// said reports whether something was said with a key.
func (s *Session) said(key string) bool { return key != "" && slices.Contains(s.state.keys, key) }

// Own reports whether a text in a message of the user is one that the agent itself says there: at a limit, or where an answer was cut.
func (s *Session) Own(text string) bool { return s.agent.own(text) }

// Rewind takes the session back to where it was before a turn, which Turns names by its first message: what was said since then is
// no part of it any longer. The journal and the store keep it.
func (s *Session) Rewind(first int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.free(); err != nil && !errors.Is(err, ErrWaiting) {
		return err
	}
	if first < 0 || first >= len(s.state.history) {
		return fmt.Errorf("agent: the session has no message %d", first)
	}
	if _, ok := s.agent.turnOf(s.state.history[first]); !ok {
		return fmt.Errorf("agent: message %d does not begin a turn", first)
	}
	return s.do(&step{Keep: &first, Stop: StopCancelled})
}
