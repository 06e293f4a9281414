package replay

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// A Shadow says what watching the agent before a pour was worth. Each checkpoint is made twice: as a candidate that
// nobody has watched the agent for, and as it is, with what the model used while everything was still in view
// (policy.PlanOptions.Ahead). Both are held against the strings that the model wrote in the five answers behind the
// pour and that nothing had shown to it again, by the rules of internal/ruler.
type Shadow struct {
	Checkpoints int `json:"checkpoints"` // that were made behind at least one request which could be watched
	Unwatched   int `json:"unwatched"`   // made at once, because a single request brought more than the watched tokens: counted here and nowhere else
	Changed     int `json:"changed"`     // records that are different from the candidate's
	Idle        int `json:"idle"`        // of them, those in which nothing that was used is better off
	Refused     int `json:"refused"`     // candidates in place of which another range was covered

	Absent     Lack `json:"absent"`     // a string is nowhere in the view
	Ungrounded Lack `json:"ungrounded"` // it is nowhere, or on no line that shares four plain words with one where it stood
}

// A Lack counts what candidates lacked of what was used behind them.
type Lack struct {
	Checkpoints int `json:"checkpoints"` // candidates that lacked something
	Repaired    int `json:"repaired"`    // of them, those where the checkpoint has some of it, with its context
	Whole       int `json:"whole"`       // of them, those where it has all of it
	Strings     int `json:"strings"`     // that were lacking
	Kept        int `json:"kept"`        // of them, those that the checkpoint has, with their context
	Lost        int `json:"lost"`        // that the candidate had and the checkpoint lacks
}

// steps is how many answers behind a pour are asked for what they used.
const steps = 5

// A held is a checkpoint's candidate.
type held struct {
	view  []decant.Message // with the candidate
	moved bool             // it covers another range
	alone bool             // no request came between the one from which it could have waited and the pour
}

// hold makes the candidate of a pour that has been decided, if somebody wants it.
func (p *pourer) hold(q int, conv, view *decant.Conversation, made []decant.Decision, out *step) error {
	if !p.shadow {
		return nil
	}
	var before []decant.Decision
	for _, d := range p.ds[:len(p.ds)-len(made)] {
		before = append(before, d)
	}
	blind := *p
	blind.blind, blind.ds = true, before
	ds, err := blind.decisions(q, conv, view, policy.Necessary)
	if err != nil {
		return fmt.Errorf("a candidate: %w", err)
	}
	for i := range ds {
		ds[i].ID, ds[i].Pour = fmt.Sprintf("candidate %d.%d", q, i), fmt.Sprintf("%08d", p.pours+1)
	}
	was, err := decant.View(conv, append(before, ds...))
	if err != nil {
		return fmt.Errorf("a candidate: %w", err)
	}
	a, b := decant.CheckpointIn(ds), decant.CheckpointIn(made)
	out.held = &held{view: was.Messages, moved: a == nil || a.To != b.To, alone: p.since < 0 || p.since == q}
	return nil
}

// watch compares the view of request q with that of its candidate.
func (j *judge) watch(q int, c *held, view []decant.Message) *Shadow {
	if c.alone {
		return &Shadow{Unwatched: 1}
	}
	out, n := &Shadow{Checkpoints: 1}, j.seg.requests[q].messages
	was, is := j.sight(c.view, n), j.sight(view, n)
	for _, id := range j.soon(q) {
		out.Absent.take(was.holds(id), is.holds(id) && is.grounds(id), is.holds(id))
		grounded := is.holds(id) && is.grounds(id)
		out.Ungrounded.take(was.holds(id) && was.grounds(id), grounded, grounded)
	}
	out.Absent.settle()
	out.Ungrounded.settle()
	if c.moved {
		out.Refused = 1
	}
	if recordOf(c.view) != recordOf(view) {
		out.Changed = 1
	}
	if out.Changed == 1 && out.Ungrounded.Kept == 0 {
		out.Idle = 1
	}
	return out
}

// take counts one string: whether the candidate had it, and whether the checkpoint has it with its context, or at all.
func (l *Lack) take(had, grounded, has bool) {
	switch {
	case had && !has:
		l.Lost++
	case !had:
		l.Strings++
		if grounded {
			l.Kept++
		}
	}
}

// settle counts one checkpoint when its strings have been counted.
func (l *Lack) settle() {
	if l.Strings > 0 {
		l.Checkpoints = 1
	}
	if l.Kept > 0 {
		l.Repaired = 1
	}
	if l.Strings > 0 && l.Kept == l.Strings {
		l.Whole = 1
	}
}

// soon returns the atoms that the answers right behind a pour before request q wrote and that nothing had shown again.
func (j *judge) soon(q int) (out []int) {
	n := j.seg.requests[q].messages
	for k := q; k < min(q+steps, len(j.seg.requests)); k++ {
		for _, id := range j.wrote[k] {
			if j.remembered(id, n, j.seg.requests[k].messages) {
				out = append(out, id)
			}
		}
	}
	return once(out)
}

// recordOf returns the text of what stands in a view for other messages.
func recordOf(view []decant.Message) (text string) {
	for i := range view {
		for k := range view[i].Blocks {
			if b := &view[i].Blocks[k]; b.Author == decant.AuthorDecant {
				text += b.Text()
			}
		}
	}
	return text
}

// sum adds up; either may be nil.
func (s *Shadow) sum(o *Shadow) *Shadow {
	if s == nil || o == nil {
		if s == nil {
			return o
		}
		return s
	}
	return &Shadow{
		s.Checkpoints + o.Checkpoints, s.Unwatched + o.Unwatched, s.Changed + o.Changed, s.Idle + o.Idle, s.Refused + o.Refused,
		s.Absent.sum(&o.Absent), s.Ungrounded.sum(&o.Ungrounded),
	}
}

func (l *Lack) sum(o *Lack) Lack {
	return Lack{
		l.Checkpoints + o.Checkpoints, l.Repaired + o.Repaired, l.Whole + o.Whole, l.Strings + o.Strings, l.Kept + o.Kept, l.Lost + o.Lost,
	}
}
