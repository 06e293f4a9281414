// Package deliver sends what a triage run has found to where people read it: Slack, and GitHub as issues, comments and one draft of a pull
// request. Later it reads back what became of that.
//
// Each thing is sent once. That it is to be sent is written down before, with the words that are sent (Box), and where it is after. What is sent
// holds a marker by which it is found again at the service. A process that dies between the two leaves an item that is begun: the next
// one looks for the marker before it sends anything. Where a service cannot be searched, as an incoming webhook cannot, an item that is begun is
// never sent again, and the result says that it may or may not have arrived.
//
// Every text passes through the mask before it is written down, and so before it leaves.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Kind is what an item is.
type Kind string

// The kinds.
const (
	kindMessage Kind = "message" // in Slack, about a run
	kindReply   Kind = "reply"   // in the thread of the message, about one error
	kindIssue   Kind = "issue"
	kindComment Kind = "comment" // on an issue
	kindPull    Kind = "pull request"
	kindProof   Kind = "proof" // that a patch works: nothing is sent
)

// An Item is one thing that is sent.
type Item struct {
	ID     string   `json:"id"` // within its run: "slack", "slack/2", "issue/2", "pull"
	Kind   Kind     `json:"kind"`
	Number int      `json:"number,omitzero"` // of the error that it is about; 0: of none
	To     string   `json:"to"`              // a channel, or owner/name of a repository
	On     int      `json:"on,omitzero"`     // the issue that a comment is on
	Marker string   `json:"marker"`          // by which it is found again
	Title  string   `json:"title,omitzero"`
	Text   string   `json:"text"`
	Labels []string `json:"labels,omitempty"`
	Branch *Branch  `json:"branch,omitzero"` // of a pull request
}

// A Branch is what a pull request brings.
type Branch struct {
	Name  string            `json:"name"`
	SHA   string            `json:"sha"`            // the commit on which it stands
	Files map[string]string `json:"files"`          // their contents, by name
	Gone  []string          `json:"gone,omitempty"` // names of files that it removes
}

// A State says how far an item has come.
type State string

// The states.
const (
	begun   State = "begun"   // it is being sent, and may have arrived
	Done    State = "done"    // it has arrived
	failed  State = "failed"  // it has not arrived; the next try sends it
	unclear State = "unclear" // it may have arrived, and nobody can find out: it is not sent again
	skipped State = "skipped" // it need not be sent; Why says why
)

// Made is what has come of an item at a service.
type Made struct {
	Channel string `json:"channel,omitzero"` // of a message
	ID      string `json:"id,omitzero"`      // of a message
	Number  int    `json:"number,omitzero"`  // of an issue, or of a pull request
	URL     string `json:"url,omitzero"`
}

// An Entry says of an item how far it has come.
type Entry struct {
	Item  Item      `json:"item"`
	State State     `json:"state"`
	Made  Made      `json:"made,omitzero"`
	Why   string    `json:"why,omitzero"`
	Time  time.Time `json:"time"`

	// Printed is what programs of this machine have printed about it. It may hold anything of the machine, and is for
	// its people: it is never sent.
	Printed string `json:"printed,omitzero"`

	Earlier bool `json:"-"` // it had arrived before this call
}

// A Box keeps entries. When Write returns nil, the entry survives the death of the process; where two processes write at once, it fails for one.
type Box interface {
	Entry(id string) (Entry, bool)
	Write(ctx context.Context, e Entry) error
}

// A service is where items are sent to.
type service interface {
	// find looks for what was sent before. Nil: it is not there. errBlind: nobody can tell.
	find(ctx context.Context, e *Entry) (*Made, error)

	send(ctx context.Context, it *Item) (*Made, error)
}

// errBlind means that a service cannot be asked what was sent to it.
var errBlind = errors.New("the service cannot be asked whether it has arrived")

// A refusal is why something was not sent.
type refusal struct {
	err     error
	unclear bool          // it may have been sent all the same
	again   bool          // another try may help
	after   time.Duration // not earlier
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// What is waited for a service at most.
const (
	mostTries = 3
	mostWait  = time.Minute // for one try
)

// A courier sends items and writes down what comes of it.
type courier struct {
	box  Box
	now  func() time.Time
	rest func(ctx context.Context, d time.Duration) error // waits
}

// deliver brings an item to its end, as far as that can be reached now. An error is that of the box: nothing more may be sent.
func (c *courier) deliver(ctx context.Context, s service, it Item) (Entry, error) {
	e, known := c.box.Entry(it.ID)
	switch {
	case known && (e.State == Done || e.State == unclear || e.State == skipped):
		e.Earlier = e.State == Done
		return e, nil
	case known && e.State == begun:
		return c.resume(ctx, s, e)
	}
	return c.try(ctx, s, Entry{Item: it, State: begun})
}

// resume goes on with an item that another process has begun to send.
func (c *courier) resume(ctx context.Context, s service, e Entry) (Entry, error) {
	made, err := s.find(ctx, &e)
	switch {
	case errors.Is(err, errBlind):
		return c.write(ctx, e, unclear, nil, "a process ended while it was sent, and "+err.Error())
	case err != nil:
		e.Why = fmt.Sprintf("whether it has arrived cannot be found out now: %v", err)
		return e, nil // it stays begun
	case made != nil:
		return c.write(ctx, e, Done, made, "")
	}
	return c.try(ctx, s, e)
}

// try sends an item, again where that helps.
func (c *courier) try(ctx context.Context, s service, e Entry) (Entry, error) {
	e, err := c.write(ctx, e, begun, nil, "")
	if err != nil {
		return e, err
	}
	for try := 1; ; try++ {
		made, err := s.send(ctx, &e.Item)
		if err == nil {
			return c.write(ctx, e, Done, made, "")
		}
		r, ok := errors.AsType[*refusal](err)
		if !ok {
			r = &refusal{err: err}
		}
		if r.unclear {
			// What was sent late may still be on its way: the service is given a moment before it is asked.
			if c.rest(ctx, time.Second) != nil {
				e.Why = err.Error()
				return e, nil
			}
			made, fault := s.find(ctx, &e)
			switch {
			case made != nil && fault == nil:
				return c.write(ctx, e, Done, made, "")
			case errors.Is(fault, errBlind):
				return c.write(ctx, e, unclear, nil, fmt.Sprintf("%v; %v", err, fault))
			case fault != nil:
				e.Why = fmt.Sprintf("%v; whether it has arrived cannot be found out now: %v", err, fault)
				return e, nil
			}
		}
		wait := max(r.after, time.Duration(try)*time.Second)
		if !r.again || try == mostTries || wait > mostWait || c.rest(ctx, wait) != nil {
			return c.write(ctx, e, failed, nil, err.Error())
		}
	}
}

// write writes down how far an item has come, also when ctx has ended: what has happened has happened.
func (c *courier) write(ctx context.Context, e Entry, s State, made *Made, why string) (Entry, error) {
	e.State, e.Why, e.Time = s, why, c.now().UTC()
	if made != nil {
		e.Made = *made
	}
	return e, c.box.Write(context.WithoutCancel(ctx), e)
}

// rest waits for a time, or until ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
