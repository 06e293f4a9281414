package agent

import (
	"context"
	"errors"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// A run is what follows one thing that the user says.
type run struct {
	*Session
	ctx    context.Context
	cancel context.CancelFunc
	yield  func(Event, error) bool
	left   bool // whoever reads the events has left

	meter meter
	last  string // what the model said last
	short int    // answers in a row that were cut for their length
}

func newRun(ctx context.Context, s *Session, yield func(Event, error) bool) *run {
	ctx, cancel := context.WithCancel(ctx)
	o := &s.agent.opts
	return &run{Session: s, ctx: ctx, cancel: cancel, yield: yield,
		meter: meter{budget: o.Budget, shared: o.Allowance, model: s.agent.model, now: o.Now}}
}

// emit tells of an event. It cancels the run when nobody listens any longer.
func (r *run) emit(e Event) {
	if r.left {
		return
	}
	if !r.yield(e, nil) {
		r.left = true
		r.cancel()
	}
}

// work is the whole run. waiting are calls that were allowed or denied and come first.
func (r *run) work(first Event, waiting *round) {
	defer r.cancel()
	if first.Kind != "" {
		r.emit(first)
	}
	stop, forced, err := r.loop(waiting)
	if stop != StopApproval {
		r.answerCalls()
	}
	r.meter.end()
	r.stop()
	switch {
	case err != nil && r.ctx.Err() != nil:
		stop, err = StopCancelled, r.ctx.Err()
	case err != nil:
		stop = StopFailed
	}
	if !r.left {
		r.yield(Event{Kind: EventDone, Outcome: &Outcome{Stop: stop, Text: r.last, Forced: forced, Spent: r.meter.spent}}, err)
	}
}

// loop asks the model and makes its calls until it asks for none. There is a stop or an error.
func (r *run) loop(waiting *round) (stop Stop, forced bool, err error) {
	if waiting != nil {
		if err := r.make(waiting); err != nil {
			return "", false, err
		}
	}
	for {
		limit := r.limit()
		a, err := r.ask(limit)
		if errors.Is(err, errNoRoom) {
			r.warn(true)
			limit = StopBudget
			a, err = r.ask(limit)
		}
		if err != nil {
			return "", false, err
		}
		if limit != "" {
			return limit, true, nil
		}
		if stop, err = r.follow(a); stop != "" || err != nil {
			return stop, false, err
		}
	}
}

// limit returns which limit of turns the next answer is the last under, if it is.
func (r *run) limit() Stop {
	if r.meter.spent.Turns+1 >= r.agent.opts.Turns {
		return StopTurns
	}
	return ""
}

// follow does what an answer asks for. It returns a stop when the run has ended with it.
func (r *run) follow(a *provider.Answer) (Stop, error) {
	calls := callsIn(a.Content)
	if a.Stop != "max_tokens" {
		r.short = 0
	}
	switch {
	case a.Stop == "refusal":
		return StopRefused, nil
	case a.Stop == "max_tokens":
		return r.cut(calls)
	case len(calls) > 0:
		return r.permit(calls)
	case a.Stop == "pause_turn":
		return "", nil // the same history again
	}
	if more := r.heard(); len(more) > 0 {
		r.tell(nil, more)
		return "", nil
	}
	return StopAnswered, nil
}

// cut goes on once after an answer that was cut for its length. Its calls are not made: their arguments may lack their end.
func (r *run) cut(calls []Call) (Stop, error) {
	if r.short++; r.short > 1 {
		return StopLength, nil
	}
	const why = "Your answer was cut because it was too long."
	if len(calls) == 0 {
		r.add(said(why + " Go on where it stopped."))
		return "", nil
	}
	r.refuse(calls, why+" This call was not made. Ask for less in one call.")
	return "", nil
}

// answerCalls gives the calls of the last message a result. Wherever a run ends, what nobody has made must not stay without one: the API
// would refuse whatever comes next.
func (r *run) answerCalls() {
	h := r.Messages()
	if calls := callsOf(h[len(h)-1]); len(calls) > 0 {
		r.refuse(calls, "This call was not made: the run ended.")
	}
}

// refuse answers all calls with an error.
func (r *run) refuse(calls []Call, why string) {
	var blocks [][]byte
	for i := range calls {
		blocks = append(blocks, resultBlock(calls[i].ID, Result{Text: why, Error: true}))
	}
	r.add(userMessage(blocks))
}

// tell appends what was said to the run behind blocks, in one message.
func (r *run) tell(blocks [][]byte, texts []string) {
	for _, text := range texts {
		blocks = append(blocks, textBlock(text))
	}
	r.add(userMessage(blocks))
	for _, text := range texts {
		r.emit(Event{Kind: EventUser, Text: text})
	}
}

// message tells of an answer and takes it into the history.
func (r *run) message(a *provider.Answer, size, window int) {
	if len(a.Content) > 2 { // an answer without content is no message of the API
		r.add(answered(a.Content))
	}
	if a.Text != "" {
		r.last = a.Text
	}
	r.emit(Event{Kind: EventMessage, Text: a.Text, Size: size, Window: window, Spent: r.meter.spent})
	r.warn(false)
}

// warn tells what is nearly used up. last says that the next answer is the final one.
func (r *run) warn(last bool) {
	if w := r.meter.warning(last); w != "" {
		r.emit(Event{Kind: EventWarning, Text: w})
	}
}

// hear tells of a piece of an answer.
func (r *run) hear(d provider.Delta) {
	switch d.Kind {
	case decant.KindText:
		r.emit(Event{Kind: EventText, Text: d.Text})
	case decant.KindThinking:
		r.emit(Event{Kind: EventThinking, Text: d.Text})
	}
}

// failed returns the status of an answer that is none of a model, 0 where there was none at all, and the body of a refusal.
func failed(err error) (status int, body []byte) {
	f, ok := errors.AsType[*provider.Failure](err)
	if !ok {
		return 0, nil
	}
	if f.Status == 0 || f.Status == http.StatusOK {
		return http.StatusBadGateway, nil
	}
	return f.Status, refusalBody(f)
}
