package agent

import (
	"bytes"
	stdjson "encoding/json"
	"maps"
	"slices"
	"time"
)

// A state is what is kept of a session. It is what its steps make of it, one after the other, in this process and in any other that
// reads them.
type state struct {
	root    string  // id of the session that it was forked from in the end: in the store they are branches of one conversation
	title   string  // what people call it; empty: its first words
	history history // what was said
	round   *round  // the calls of the last message, nil where it has none
	steered []string
	labels  map[string]string // what programs have noted
	keys    []string          // of what was said, the newest ones
	running bool              // a run has begun and not ended
	spent   Spent             // by that run, or the last one
	total   Spent             // by all of them
	sized   sized             // the newest prompt
	runs    []ran             // those whose beginning is part of the history, oldest first
	sent    []sending         // for the answers among the history, in their order
	noted   sending           // for the answer that was noted last, which the next note builds on
}

// A round is the calls that one answer of the model asks for.
type round struct {
	calls    []Call
	verdicts []Verdict // of each call; no kind: nobody has decided
	begun    []bool    // somebody has begun to make the call
	results  []*Result // of each call that has returned
}

// A step is something that happened to a session. What it does not name stays as it was.
type step struct {
	Time time.Time `json:"time"`
	Root string    `json:"root,omitzero"` // with the first one

	Began    bool                 `json:"began,omitzero"`    // a run
	Resumed  bool                 `json:"resumed,omitzero"`  // the run that had ended, was interrupted, or waited goes on
	Keep     *int                 `json:"keep,omitzero"`     // how many messages stay; Messages follow them
	Messages []stdjson.RawMessage `json:"messages,omitzero"` // that were added
	Heard    int                  `json:"heard,omitzero"`    // texts that were said to the run and are among them
	Spent    Spent                `json:"spent,omitzero"`    // on what was added
	Size     int                  `json:"size,omitzero"`     // tokens of the prompt that Spent was reported for, as they were estimated

	Verdicts map[string]Verdict `json:"verdicts,omitzero"` // by the ids of calls
	Previews map[string]string  `json:"previews,omitzero"` // of calls that wait
	Begun    []string           `json:"begun,omitzero"`    // calls that are about to be made
	Results  map[string]Result  `json:"results,omitzero"`  // of calls that have returned

	Steered string `json:"steered,omitzero"` // was said to the run
	Stop    Stop   `json:"stop,omitzero"`    // the run has ended; where calls wait, it has not
	Title   string `json:"title,omitzero"`
	Key     string `json:"key,omitzero"`    // of what the user said
	Unsaid  string `json:"unsaid,omitzero"` // key of what is taken back as if it had not been said

	Labels map[string]string `json:"labels,omitzero"`
	Sent   []sentNote        `json:"sent,omitempty"` // for answers among Messages
}

// after returns the state after a step.
func (st *state) after(p *step) state {
	next := *st
	next.round = next.round.clone()
	next.take(p)
	return next
}

// take lets a step happen.
func (st *state) take(p *step) {
	if p.Root != "" {
		st.root = p.Root
	}
	if p.Title != "" {
		st.title = p.Title
	}
	st.label(p.Labels)
	if p.Key != "" {
		st.keys = append(st.keys[max(0, len(st.keys)-maxKeys+1):], p.Key)
	}
	if p.Unsaid != "" {
		st.keys = slices.DeleteFunc(slices.Clone(st.keys), func(key string) bool { return key == p.Unsaid })
	}
	if p.Began {
		st.running, st.spent = true, Spent{}
	}
	st.running = st.running || p.Resumed
	if p.Keep != nil {
		st.history = slices.Clone(st.history[:min(*p.Keep, len(st.history))])
		st.sent = sentBefore(st.sent, len(st.history))
	}
	st.ran(p)
	if len(p.Messages) > 0 {
		st.history = append(st.history, p.Messages...)
	}
	st.takeSent(p.Sent)
	if p.Keep != nil || len(p.Messages) > 0 {
		st.round = roundOf(st.history)
		st.runs = slices.DeleteFunc(st.runs, func(r ran) bool { return r.first >= len(st.history) })
	}
	st.steered = st.steered[min(p.Heard, len(st.steered)):]
	st.spent, st.total = st.spent.plus(p.Spent), st.total.plus(p.Spent)
	if p.Size > 0 {
		st.sized = sized{p.Size, p.Spent.Usage.Prompt()}
	}
	if st.round != nil {
		st.round.take(p)
	}
	if p.Steered != "" {
		st.steered = append(st.steered, p.Steered)
	}
	if p.Stop != "" && p.Stop != StopApproval {
		st.running = false
	}
}

// maxKeys is how many keys of what was said are known.
const maxKeys = 100

// label notes labels. Others may read the ones that there are.
func (st *state) label(labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	st.labels = maps.Clone(st.labels)
	if st.labels == nil {
		st.labels = map[string]string{}
	}
	for name, text := range labels {
		if st.labels[name] = text; text == "" {
			delete(st.labels, name)
		}
	}
}

// roundOf returns the calls of the last message, nil where it has none.
func roundOf(h history) *round {
	if len(h) == 0 || bytes.HasPrefix(h[len(h)-1], []byte(userStart)) {
		return nil
	}
	calls := callsOf(h[len(h)-1])
	if len(calls) == 0 {
		return nil
	}
	return &round{calls: calls, verdicts: make([]Verdict, len(calls)), begun: make([]bool, len(calls)), results: make([]*Result, len(calls))}
}

// clone returns a round of its own.
func (rd *round) clone() *round {
	if rd == nil {
		return nil
	}
	return &round{slices.Clone(rd.calls), slices.Clone(rd.verdicts), slices.Clone(rd.begun), slices.Clone(rd.results)}
}

// take lets happen what a step says about calls.
func (rd *round) take(p *step) {
	for i := range rd.calls {
		id := rd.calls[i].ID
		if v, ok := p.Verdicts[id]; ok {
			rd.verdicts[i] = v
		}
		if text, ok := p.Previews[id]; ok {
			rd.calls[i].Preview = text
		}
		if r, ok := p.Results[id]; ok {
			rd.results[i] = &r
		}
		rd.begun[i] = rd.begun[i] || slices.Contains(p.Begun, id)
	}
}

// waits reports whether a call waits to be allowed.
func (rd *round) waits() bool {
	return rd != nil && slices.ContainsFunc(rd.verdicts, func(v Verdict) bool { return v.Kind == Ask })
}

// index returns which call has an id, -1 if none has.
func (rd *round) index(id string) int {
	return slices.IndexFunc(rd.calls, func(c Call) bool { return c.ID == id })
}

// blocks returns the results of all calls as blocks. why says what is told of those that have none; of one that was begun nobody knows
// what it has done.
func (rd *round) blocks(why string) (out [][]byte) {
	for i := range rd.calls {
		r := Result{Text: why, Error: true}
		switch {
		case rd.results[i] != nil:
			r = *rd.results[i]
		case rd.begun[i]:
			r = unknownOutcome
		}
		out = append(out, resultBlock(rd.calls[i].ID, r))
	}
	return out
}

// unknownOutcome is the result of a call that was under way when its process ended.
var unknownOutcome = Result{Error: true, Text: "It is not known whether this call was carried out: the program ended while it was under way. " +
	"Find out before you make it again."}

// plus returns the sum of s and t.
func (s Spent) plus(t Spent) Spent {
	return Spent{Turns: s.Turns + t.Turns, Usage: s.Usage.Add(t.Usage), Money: s.Money + t.Money}
}
