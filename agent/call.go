package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient takes what the API has sent as it is: a call that is not seen would stay without a result.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// callsIn returns the calls of an answer, which is a JSON list of blocks.
func callsIn(content []byte) []Call { return callsOf(answered(content)) }

// callsOf returns the calls of a message. One of the user has none.
func callsOf(message jsontext.Value) (out []Call) {
	var m struct {
		Blocks []struct {
			Type  string         `json:"type"`
			ID    string         `json:"id"`
			Name  string         `json:"name"`
			Input jsontext.Value `json:"input"`
		} `json:"content"`
	}
	if json.Unmarshal(message, &m, lenient) != nil {
		return nil // a content that is a bare text
	}
	for _, b := range m.Blocks {
		if b.Type == "tool_use" {
			out = append(out, Call{ID: b.ID, Tool: b.Name, Arguments: b.Input.Clone()})
		}
	}
	return out
}

// permit asks what is to be done about calls, and makes them unless somebody must be asked first.
func (r *run) permit(calls []Call) (Stop, error) {
	rd := &round{calls: calls, verdicts: make([]Verdict, len(calls))}
	waits := false
	for i := range calls {
		rd.verdicts[i] = r.verdict(&calls[i])
		waits = waits || rd.verdicts[i].Kind == Ask
	}
	if !waits {
		return "", r.make(rd)
	}
	for i := range calls {
		if rd.verdicts[i].Kind == Ask {
			r.preview(&calls[i])
		}
	}
	r.meter.end() // nothing is held back while somebody thinks about it
	rd.meter = r.meter
	r.mu.Lock()
	r.round = rd
	r.mu.Unlock()
	for _, c := range r.Waiting() {
		r.emit(Event{Kind: EventApproval, Call: &c})
	}
	return StopApproval, nil
}

// verdict says what is to be done about a call.
func (r *run) verdict(c *Call) Verdict {
	t := r.agent.tool(c.Tool)
	switch {
	case t == nil:
		return Verdict{Kind: Allow} // it fails as a call, with the names that there are
	case r.agent.opts.Permit == nil && !t.Ask:
		return Verdict{Kind: Allow}
	case r.agent.opts.Permit != nil:
		if v := r.agent.opts.Permit(r.ctx, t, c); v.valid() {
			return v
		}
	}
	return Verdict{Kind: Ask} // also where Permit says what cannot be understood
}

// valid reports whether a verdict decides.
func (v *Verdict) valid() bool {
	switch v.Kind {
	case Allow, Deny:
		return true
	case Edit:
		return v.Arguments.IsValid()
	}
	return false
}

// preview notes what a call would change.
func (r *run) preview(c *Call) {
	t := r.agent.tool(c.Tool)
	if t == nil || t.Preview == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			c.Preview = fmt.Sprintf("(what it would change cannot be shown: %v)", v)
		}
	}()
	text, err := t.Preview(r.ctx, c)
	if err != nil {
		text = "(what it would change cannot be shown: " + err.Error() + ")"
	}
	c.Preview = text
}

// make makes the calls of a round and takes their results into the history. Whatever happens, each call has one.
func (r *run) make(rd *round) error {
	results := make([]Result, len(rd.calls))
	for i := range results {
		results[i] = Result{Text: "This call was not made: the run was interrupted.", Error: true}
	}
	err := r.makeAll(rd, results)
	blocks := make([][]byte, len(results))
	for i := range results {
		blocks[i] = resultBlock(rd.calls[i].ID, results[i])
	}
	r.tell(blocks, r.heard())
	return errors.Join(err, r.ctx.Err())
}

// makeAll makes the calls: side by side where none of them changes anything, else one after the other.
func (r *run) makeAll(rd *round, results []Result) error {
	readOnly := func(c Call) bool { t := r.agent.tool(c.Tool); return t == nil || t.ReadOnly }
	if len(rd.calls) > 1 && !slices.ContainsFunc(rd.calls, func(c Call) bool { return !readOnly(c) }) {
		return r.sideBySide(rd, results)
	}
	for i := range rd.calls {
		if r.ctx.Err() != nil {
			return nil
		}
		r.announce(&rd.calls[i])
		news := make(chan Event)
		var err error
		go func() {
			defer close(news)
			results[i], err = r.one(&rd.calls[i], rd.verdicts[i], news)
		}()
		r.relay(news)
		if err != nil {
			return err
		}
		r.returned(&rd.calls[i], results[i])
	}
	return nil
}

// maxSideBySide is how many calls are made at once.
const maxSideBySide = 8

// sideBySide makes calls at once.
func (r *run) sideBySide(rd *round, results []Result) error {
	news := make(chan Event)
	errs := make([]error, len(rd.calls))
	for i := range rd.calls {
		r.announce(&rd.calls[i])
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, maxSideBySide)
	for i := range rd.calls {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if r.ctx.Err() == nil {
				results[i], errs[i] = r.one(&rd.calls[i], rd.verdicts[i], news)
			}
		})
	}
	go func() { wg.Wait(); close(news) }()
	r.relay(news)
	for i := range rd.calls {
		r.returned(&rd.calls[i], results[i])
	}
	return errors.Join(errs...)
}

// relay tells of what calls report until all of them have returned.
func (r *run) relay(news <-chan Event) {
	for e := range news {
		r.emit(e)
	}
}

// announce tells that a call is about to be made.
func (r *run) announce(c *Call) {
	told := *c
	r.emit(Event{Kind: EventCall, Call: &told})
}

// returned tells what a call has returned.
func (r *run) returned(c *Call, res Result) {
	told := *c
	told.Error = res.Error
	r.emit(Event{Kind: EventResult, Call: &told, Text: res.Text})
}

// one makes a call, unless its verdict is against it. An error ends the run; what goes wrong with the call itself is its result.
func (r *run) one(c *Call, v Verdict, news chan<- Event) (Result, error) {
	t := r.agent.tool(c.Tool)
	switch {
	case t == nil:
		return Result{Text: r.agent.noTool(c.Tool), Error: true}, nil
	case v.Kind == Deny:
		return Result{Text: denied(v.Reason), Error: true}, nil
	case v.Kind == Edit:
		c.Arguments = v.Arguments
	}
	if f := r.agent.opts.Hooks.BeforeTool; f != nil {
		if err := f(r.ctx, c); err != nil {
			return Result{Text: "This call was not made: " + err.Error(), Error: true}, err
		}
	}
	res := r.agent.call(r.ctx, t, c, news)
	if f := r.agent.opts.Hooks.AfterTool; f != nil {
		if err := f(r.ctx, c, &res); err != nil {
			return res, err
		}
	}
	most := t.Most
	if most == 0 {
		most = r.agent.opts.MostResult
	}
	return capped(res, most), nil
}

// denied is the result of a call that was denied.
func denied(reason string) string {
	if reason == "" {
		return "The user does not allow this call."
	}
	return "The user does not allow this call: " + reason
}

// noTool is the result of a call of a tool that there is not.
func (a *Agent) noTool(name string) string {
	text := fmt.Sprintf("There is no tool %q. The tools are:", name)
	for i := range a.opts.Tools {
		text += " " + a.opts.Tools[i].Name
	}
	return text
}

// call makes a call within its time. It does not wait for one that does not return when its time is over.
func (a *Agent) call(ctx context.Context, t *Tool, c *Call, news chan<- Event) Result {
	ctx, cancel := timed(ctx, t.Timeout)
	defer cancel()
	p := progress{ctx: ctx, call: *c, news: news}
	defer p.end()
	mine := *c // of the call alone: it may live longer than the run
	mine.Progress = p.tell
	done := make(chan Result, 1)
	go func() { done <- attempt(ctx, t, &mine) }()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
	}
	select { // what ends in time to say what it was doing is heard
	case r := <-done:
		return r
	case <-time.After(grace):
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Result{Text: "The call took too long and was given up. What it has done until then is not known.", Error: true}
	}
	return Result{Text: "The call was interrupted. What it has done until then is not known.", Error: true}
}

// A progress is how a call tells how far it is.
type progress struct {
	ctx  context.Context
	call Call

	mu    sync.Mutex
	news  chan<- Event
	ended bool
}

// tell tells whoever watches the run, until the call has ended.
func (p *progress) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	told := p.call
	select {
	case <-p.ctx.Done():
	case p.news <- Event{Kind: EventProgress, Call: &told, Text: text}:
	}
}

// end waits for what is being told. Nothing is told after it.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// grace is how long a call whose time is over may take to end by itself.
const grace = 2 * time.Second

// timed returns a context for a call.
func timed(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	switch {
	case limit < 0:
		return context.WithCancel(ctx)
	case limit == 0:
		limit = defaultTimeout
	}
	return context.WithTimeout(ctx, limit)
}

// attempt makes a call. A panic is a failure of the call.
func attempt(ctx context.Context, t *Tool, c *Call) (r Result) {
	defer func() {
		if v := recover(); v != nil {
			r = Result{Text: fmt.Sprintf("The tool failed: %v\n%s", v, firstRunes(string(debug.Stack()), 1000)), Error: true}
		}
	}()
	r, err := t.Run(ctx, c)
	if err != nil {
		r.Error = true
		if r.Text != "" {
			r.Text += "\n"
		}
		r.Text += err.Error()
	}
	return r
}
