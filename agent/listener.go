package agent

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// A listener is whoever reads the events of a run.
type listener struct {
	yield   func(Event, error) bool
	left    bool               // it reads no longer
	cancel  context.CancelFunc // of the run
	opening func()             // reports with what the run begins, before any other event; nil: it was reported
}

// relay tells of what calls report until all of them have returned.
func (l *listener) relay(news <-chan Event) {
	for e := range news {
		l.emit(e)
	}
}

// announce tells that a call is about to be made.
func (l *listener) announce(c *Call) {
	told := *c
	l.emit(Event{Kind: EventCall, Call: &told})
}

// returned tells what a call has returned.
func (l *listener) returned(c *Call, res Result) {
	told := *c
	told.Error = res.Error
	l.emit(Event{Kind: EventResult, Call: &told, Text: res.Text})
}

// open tells with what the run begins, if nobody was told.
func (l *listener) open() {
	if tell := l.opening; tell != nil {
		l.opening = nil
		tell()
	}
}

// emit tells of an event. It cancels the run when nobody listens any longer.
func (l *listener) emit(e Event) {
	l.open()
	if l.left {
		return
	}
	if !l.yield(e, nil) {
		l.left = true
		l.cancel()
	}
}

// hear tells of a piece of an answer.
func (l *listener) hear(d provider.Delta) {
	switch d.Kind {
	case decant.KindText:
		l.emit(Event{Kind: EventText, Text: d.Text})
	case decant.KindThinking:
		l.emit(Event{Kind: EventThinking, Text: d.Text})
	}
}
