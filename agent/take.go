package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Take returns a session with an id that begins with the first n messages of another session, which may be of another agent, and with
// what was poured of them; n less than zero: all of them. Nothing that happens to either session reaches the other. The messages
// must end with an answer that asks for no calls, with nothing, or with what the user said, to which Continue has the model answer; of
// all of them the last may ask for calls, which are told that they were not made. A session with a run under way, or with calls
// that wait, is not taken from: ErrRunning, ErrWaiting.
func (a *Agent) Take(id string, from *Session, n int) (*Session, error) {
	from.mu.Lock()
	defer from.mu.Unlock()
	if err := from.free(); err != nil {
		return nil, err
	}
	st := &from.state
	if n > len(st.history) {
		return nil, fmt.Errorf("agent: the session has %d messages, not %d", len(st.history), n)
	}
	first := &step{Root: st.root, Title: st.title, Labels: maps.Clone(st.labels), Messages: slices.Clone(st.history)}
	switch {
	case n >= 0 && roundOf(st.history[:n]) != nil:
		return nil, errors.New("agent: a session cannot begin with calls that have no results")
	case n >= 0:
		first.Messages = first.Messages[:n]
	case st.round != nil:
		first.Messages = append(first.Messages, userMessage(st.round.blocks(interrupted)))
	}
	first.Sent = notesOf(sentBefore(st.sent, len(first.Messages)))
	s := a.Session(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(first.Messages) == 0 && a.opts.Journals == nil {
		s.state.take(first)
		return s, nil
	}
	return s, s.do(first)
}

// Root returns the id of the session that this one was forked or taken from in the end, its own where there is none. In the store they
// are branches of one conversation, and this is its session.
func (s *Session) Root() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.root
}

// Label returns what a program has noted about the session under a name; empty: nothing.
func (s *Session) Label(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.labels[name]
}

// SetLabels notes something about the session under names, for programs. An empty text removes a note. Forks have it, too.
func (s *Session) SetLabels(labels map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.do(&step{Labels: labels})
}
