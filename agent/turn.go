package agent

import (
	"slices"
	"time"
)

// A Turn is one thing that the user said to begin a run.
type Turn struct {
	First int           // which message it is, from 0
	Text  string        // with what was said to the run before too late for it
	Spent Spent         // by its run; zero where that was a run of another session
	Took  time.Duration // how long its run was under way, without the time that calls waited to be allowed
}

// Turns returns what the user said, in order.
func (s *Session) Turns() (out []Turn) {
	s.mu.Lock()
	history, runs := slices.Clone(s.state.history), s.state.runs
	s.mu.Unlock()
	for i, m := range history {
		text, ok := s.agent.turnOf(m)
		if !ok {
			continue
		}
		t := Turn{First: i, Text: text}
		if k := slices.IndexFunc(runs, func(r ran) bool { return r.first == i }); k >= 0 {
			t.Spent, t.Took = runs[k].spent, runs[k].took
		}
		out = append(out, t)
	}
	return out
}

// A ran is what is known of a run.
type ran struct {
	first int       // its first message
	since time.Time // it is under way; zero: it is not
	took  time.Duration
	spent Spent
}

// ran notes what a step says about the newest run. The messages of the step are not part of the history yet. Others may read the runs that
// there are.
func (st *state) ran(p *step) {
	first := len(st.history)
	begins := p.Began
	if p.Resumed && first > 0 && beginsTurn(st.history[first-1]) && !slices.ContainsFunc(st.runs, func(r ran) bool { return r.first == first-1 }) {
		begins, first = true, first-1 // it was said in another session (Agent.Take)
	}
	if !begins && len(st.runs) == 0 {
		return
	}
	st.runs = slices.Clone(st.runs)
	if begins {
		st.runs = append(st.runs, ran{first: first, since: p.Time})
	}
	r := &st.runs[len(st.runs)-1]
	if r.since.IsZero() && (p.Resumed || len(p.Verdicts) > 0) {
		r.since = p.Time
	}
	r.spent = r.spent.plus(p.Spent)
	if p.Stop != "" && !r.since.IsZero() {
		r.took += p.Time.Sub(r.since)
		r.since = time.Time{}
	}
}
