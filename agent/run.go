package agent

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
)

// A run is what follows one thing that the user says.
type run struct {
	*Session
	listener
	root string // of the session
	ctx  context.Context

	meter  meter
	poured *Pour  // that nobody was told of yet
	last   string // what the model said last
	short  int    // answers in a row that were cut for their length
	silent int    // answers in a row that said nothing

	asking *asking // the request in hand; nil: none was made yet
	back   *step   // takes back what the user has said; nil: it cannot be taken back
}

func newRun(ctx context.Context, s *Session, yield func(Event, error) bool) *run {
	o := &s.agent.opts
	ctx = context.WithValue(ctx, sessionKey{}, s)
	if f := o.Hooks.BeforeRun; f != nil {
		ctx = f(ctx, s)
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	return &run{Session: s, root: s.state.root, ctx: ctx, listener: listener{yield: yield, cancel: cancel}, meter: s.meter()}
}

// work is the whole run.
func (r *run) work() {
	defer r.cancel()
	stop, forced, err := r.loop()
	switch {
	case err != nil && r.ctx.Err() != nil:
		stop, err = StopCancelled, r.ctx.Err()
	case err != nil:
		stop = StopFailed
	}
	if _, over := errors.AsType[*budget.Error](err); !over || r.back == nil {
		r.open() // else nothing was sent, and it is as if nothing had been said
	}
	r.meter.end()
	err = errors.Join(err, r.end(stop))
	o := Outcome{Stop: stop, Text: r.last, Forced: forced, Spent: r.meter.spent}
	if f := r.agent.opts.Hooks.AfterRun; f != nil {
		f(r.ctx, o, err)
	}
	if !r.left {
		r.yield(Event{Kind: EventDone, Outcome: &o}, err)
	}
}

// end ends the run. Wherever that is, calls that nobody has made must not stay without a result: the API would refuse whatever comes next.
func (r *run) end(stop Stop) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.busy = false }()
	p := &step{Stop: stop}
	if r.opening != nil {
		p = r.back
		p.Stop = stop
	}
	if rd := r.state.round; rd != nil && stop != StopApproval {
		p.Messages = []stdjson.RawMessage{userMessage(rd.blocks("This call was not made: the run ended."))}
	}
	return r.do(p)
}

// loop asks the model and makes its calls until it asks for none. There is a stop or an error.
func (r *run) loop() (stop Stop, forced bool, err error) {
	if stop, err = r.calls(); stop != "" || err != nil {
		return stop, false, err
	}
	for {
		limit := r.limit()
		a, err := r.next().ask(limit)
		if errors.Is(err, errNoRoom) {
			r.warn(true)
			limit = StopBudget
			a, err = r.next().ask(limit)
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

// limit returns which limit the next answer is the last under, if it is: that of turns, or the budget that had no room for all of an
// answer which was cut.
func (r *run) limit() Stop {
	if r.short > 0 && r.asking.room.halved > 0 {
		return StopBudget
	}
	if r.meter.spent.Turns+1 >= r.agent.opts.Turns {
		return StopTurns
	}
	return ""
}

// follow does what an answer asks for. It returns a stop when the run has ended with it.
func (r *run) follow(a *provider.Answer) (Stop, error) {
	if !wasCut(a) {
		r.short = 0
	}
	if !nothing(a) {
		r.silent = 0
	}
	calls := callsIn(a.Content)
	switch {
	case a.Stop == "refusal":
		return StopRefused, nil
	case wasCut(a):
		return r.cut(calls)
	case len(calls) > 0:
		return r.calls()
	case a.Stop == "pause_turn":
		return "", nil // the same history again
	}
	if len(r.heard()) > 0 {
		return "", r.tell(nil)
	}
	if nothing(a) {
		return "", r.askAgain()
	}
	return StopAnswered, nil
}

// wasCut reports whether an answer has reached its maximum length, or the end of the window.
func wasCut(a *provider.Answer) bool {
	return a.Stop == "max_tokens" || a.Stop == "model_context_window_exceeded"
}

// errSilent means that the model says nothing.
var errSilent = fmt.Errorf("agent: the model answered with nothing, twice: %w", provider.ErrBroken)

// askAgain asks once more for an answer, which models leave empty at times, above all behind results of tools.
func (r *run) askAgain() error {
	if r.silent++; r.silent > 1 {
		return errSilent
	}
	return r.step(&step{Messages: []stdjson.RawMessage{said(saidNothing)}})
}

// cut goes on once after an answer that was cut for its length. Its calls are not made: their arguments may lack their end.
func (r *run) cut(calls []Call) (Stop, error) {
	if r.short++; r.short > 1 && r.asking.room.halved == 0 {
		return StopLength, nil
	}
	const why = "Your answer was cut because it was too long."
	if len(calls) == 0 {
		return "", r.step(&step{Messages: []stdjson.RawMessage{said(cutShort)}})
	}
	var blocks [][]byte
	for i := range calls {
		blocks = append(blocks, resultBlock(calls[i].ID, Result{Text: why + " This call was not made. Ask for less in one call.", Error: true}))
	}
	return "", r.step(&step{Messages: []stdjson.RawMessage{userMessage(blocks)}})
}

// heard returns what was said to the run and not yet read.
func (r *run) heard() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.state.steered)
}

// tell appends what was said to the run behind blocks, in one message.
func (r *run) tell(blocks [][]byte) error {
	texts := r.heard()
	for _, text := range texts {
		blocks = append(blocks, textBlock(text))
	}
	if err := r.step(&step{Messages: []stdjson.RawMessage{userMessage(blocks)}, Heard: len(texts)}); err != nil {
		return err
	}
	r.toldBy(texts...)
	return nil
}

// toldBy tells what the user has said with the last message.
func (r *run) toldBy(texts ...string) {
	index := len(r.Messages()) - 1
	for _, text := range texts {
		r.emit(Event{Kind: EventUser, Text: text, Index: index})
	}
}

// step lets a step happen.
func (r *run) step(p *step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.do(p)
}

// message tells of an answer and takes it into the history.
func (r *asking) message(q *engine.Prepared, a *provider.Answer, spent Spent) error {
	p := &step{Spent: spent, Size: sizeOf(q)}
	if !nothing(a) && len(a.Content) > 2 { // an answer without content is no message of the API
		p.Messages = []stdjson.RawMessage{answered(a.Content)}
		p.Sent = r.sentFor(q)
	}
	err := r.step(p)
	if a.Text != "" {
		r.last = a.Text
	}
	r.emit(Event{Kind: EventMessage, Text: a.Text, Size: sizeOf(q), Window: q.Report.Window, Spent: r.meter.spent})
	r.warn(false)
	return err
}

// warn tells what is nearly used up. last says that the next answer is the final one.
func (r *run) warn(last bool) {
	if w := r.meter.warning(last); w != "" {
		r.emit(Event{Kind: EventWarning, Text: w})
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
