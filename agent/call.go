package agent

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/provider"
)

// lenient takes what the API has sent as it is: a call that is not seen would stay without a result.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// callsIn returns the calls of an answer, which is a JSON list of blocks.
func callsIn(content []byte) []Call { return callsOf(answered(content)) }

// callsOf returns the calls of a message. One of the user has none.
func callsOf(message stdjson.RawMessage) (out []Call) {
	var m struct {
		Blocks []struct {
			Type  string             `json:"type"`
			ID    string             `json:"id"`
			Name  string             `json:"name"`
			Input stdjson.RawMessage `json:"input"`
		} `json:"content"`
	}
	if json.Unmarshal(message, &m, lenient) != nil {
		return nil // a content that is a bare text
	}
	for _, b := range m.Blocks {
		if b.Type == "tool_use" {
			out = append(out, Call{ID: b.ID, Tool: b.Name, Arguments: bytes.Clone(b.Input)})
		}
	}
	return out
}

// nothing reports whether an answer that is complete says nothing and asks for nothing. Thinking is not said to anybody.
func nothing(a *provider.Answer) bool {
	if wasCut(a) || a.Stop == "refusal" || a.Stop == "pause_turn" {
		return false
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(a.Content, &blocks, lenient) != nil {
		return false
	}
	for _, b := range blocks {
		switch b.Type {
		case "thinking", "redacted_thinking":
		case "text":
			if strings.TrimSpace(b.Text) != "" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// calls makes the calls of the last message, unless somebody must be asked about one of them first.
func (r *run) calls() (Stop, error) {
	rd := r.round()
	if rd == nil {
		return "", nil
	}
	asked := &step{Verdicts: map[string]Verdict{}, Previews: map[string]string{}, Stop: StopApproval}
	for i := range rd.calls {
		if rd.verdicts[i].Kind != "" || rd.results[i] != nil {
			continue
		}
		if rd.verdicts[i] = r.verdict(&rd.calls[i]); rd.verdicts[i].Kind == Ask {
			r.preview(&rd.calls[i])
			asked.Previews[rd.calls[i].ID] = rd.calls[i].Preview
		}
		asked.Verdicts[rd.calls[i].ID] = rd.verdicts[i]
	}
	if !rd.waits() {
		return "", r.make(rd)
	}
	r.meter.end() // nothing is held back while somebody thinks about it
	if err := r.step(asked); err != nil {
		return "", err
	}
	for _, c := range r.Waiting() {
		r.emit(Event{Kind: EventApproval, Call: &c})
	}
	return StopApproval, nil
}

// round returns the calls of the last message.
func (r *run) round() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.round.clone()
}

// verdict says what is to be done about a call.
func (r *run) verdict(c *Call) Verdict {
	t := r.agent.tool(c.Tool)
	if t == nil {
		return Verdict{Kind: Allow} // it fails as a call, with the names that there are
	}
	return permitted(r.ctx, r.agent.opts.Permit, t, c)
}

// valid reports whether a verdict decides.
func (v *Verdict) valid() bool {
	switch v.Kind {
	case Allow, Deny:
		return true
	case Edit:
		return jsontext.Value(v.Arguments).IsValid()
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

// make makes the calls of a round that have no result yet, and takes their results into the history. Whatever happens, each call
// has one.
func (r *run) make(rd *round) error {
	if r.asked == nil {
		r.asked = r.again()
	}
	err := (&batch{run: r, round: rd}).makeAll()
	if r.Session.Err() != nil {
		return err
	}
	return errors.Join(err, r.tell(r.round().blocks(interrupted)), r.ctx.Err())
}

// A batch makes the calls of a round.
type batch struct {
	*run
	round *round
}

// makeAll makes calls: side by side where all of them may be, else one after the other.
func (b *batch) makeAll() error {
	var left []int
	alone := false
	for i := range b.round.calls {
		t := b.agent.tool(b.round.calls[i].Tool)
		switch {
		case b.round.results[i] != nil:
			continue
		case b.round.begun[i] && t != nil && !t.ReadOnly && !t.Idempotent:
			if err := b.unknown(&b.round.calls[i]); err != nil {
				return err
			}
			continue
		}
		alone = alone || t != nil && !t.ReadOnly && !t.Parallel
		left = append(left, i)
	}
	if len(left) > 1 && !alone {
		return b.sideBySide(left)
	}
	for _, i := range left {
		if b.ctx.Err() != nil {
			return nil
		}
		if err := b.sideBySide([]int{i}); err != nil {
			return err
		}
	}
	return nil
}

// unknown tells that nobody knows what a call has done.
func (b *batch) unknown(c *Call) error {
	b.emit(Event{Kind: EventWarning, Text: fmt.Sprintf("it is not known whether call %s of %s was carried out", c.ID, c.Tool)})
	err := b.step(&step{Results: map[string]Result{c.ID: unknownOutcome}})
	b.returned(c, unknownOutcome)
	return err
}

// maxSideBySide is how many calls are made at once.
const maxSideBySide = 8

// sideBySide makes some calls of a round at once. Before the first one that all of them are about to be made is written down, and of
// each what it has returned.
func (b *batch) sideBySide(which []int) error {
	if err := b.step(b.begin(which)); err != nil {
		return err
	}
	for _, i := range which {
		b.announce(&b.round.calls[i])
	}
	news := make(chan Event)
	results, errs := make([]Result, len(which)), make([]error, len(which))
	var wg sync.WaitGroup
	free := make(chan struct{}, maxSideBySide)
	for k, i := range which {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if b.ctx.Err() != nil { // the end of the run writes down all those at once that were not made
				results[k] = Result{Text: interrupted, Error: true}
				return
			}
			results[k], errs[k] = b.one(&b.round.calls[i], b.round.verdicts[i], news)
			errs[k] = errors.Join(errs[k], b.step(&step{Results: map[string]Result{b.round.calls[i].ID: results[k]}}))
		})
	}
	go func() { wg.Wait(); close(news) }()
	b.relay(news)
	for k, i := range which {
		b.returned(&b.round.calls[i], results[k])
	}
	return errors.Join(errs...)
}

// begin returns the step by which some calls of a round are about to be made. What is not made at all has not begun.
func (b *batch) begin(which []int) *step {
	p := &step{Verdicts: map[string]Verdict{}}
	for _, i := range which {
		c, v := &b.round.calls[i], b.round.verdicts[i]
		if v.Kind != "" {
			p.Verdicts[c.ID] = v // whoever makes it again does as was said
		}
		if v.Kind != Deny && b.agent.tool(c.Tool) != nil {
			p.Begun = append(p.Begun, c.ID)
		}
	}
	return p
}

// one makes a call, unless its verdict is against it. An error ends the run; what goes wrong with the call itself is its result.
func (b *batch) one(c *Call, v Verdict, news chan<- Event) (Result, error) {
	t := b.agent.tool(c.Tool)
	switch {
	case t == nil:
		return Result{Text: b.agent.noTool(c.Tool), Error: true}, nil
	case v.Kind == Deny:
		return Result{Text: denied(v.Reason), Error: true}, nil
	case v.Kind == Edit:
		c.Arguments = v.Arguments
	}
	if f := b.agent.opts.Hooks.BeforeTool; f != nil {
		if err := f(b.ctx, c); err != nil {
			return Result{Text: "This call was not made: " + err.Error(), Error: true}, err
		}
	}
	res := b.agent.call(context.WithValue(b.ctx, snapshotKey{}, b.asked), t, c, news)
	if f := b.agent.opts.Hooks.AfterTool; f != nil {
		if err := f(b.ctx, c, &res); err != nil {
			return res, err
		}
	}
	most := t.Most
	if most == 0 {
		most = b.agent.opts.MostResult
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
