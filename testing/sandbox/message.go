package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/sse"
)

// messages is POST /v1/messages.
func (x *exchange) messages() *apiError {
	f := x.nextFault()
	x.rateLimits()
	if err := f.refusal(); err != nil {
		return err
	}
	q, err := x.request(false)
	if err != nil {
		return err
	}
	rep, h, err := x.complete(q)
	if err != nil {
		return err
	}
	o := outgoing{whole: x.entry.Answer, found: h}
	if q.body.is("stream") {
		o.frames = rep.frames(x.s.opts.Chunk)
	}
	return x.deliver(o, f)
}

// A reading is a prompt that has passed all checks, and what it finds in the cache.
type reading struct {
	q      *request
	th     *thoughts
	ed     *edited
	tokens int
	found  hit
}

// read checks what is left to check of a request.
func (x *exchange) read(q *request) (*reading, *apiError) {
	th, ed, err := x.s.admit(x.account, q)
	if err != nil {
		return nil, err
	}
	in := x.reading(q, th, ed)
	x.entry.Prompt, x.entry.Dropped, x.entry.Cleared = in.tokens, len(th.dropped), ed.uses()
	return in, x.s.checkSize(q, in.tokens)
}

// reading counts a prompt and looks for it in the cache.
func (x *exchange) reading(q *request, th *thoughts, ed *edited) *reading {
	ps := q.pieces(ed)
	in := &reading{q: q, th: th, ed: ed, tokens: count(ps, x.s.counter)}
	in.found = x.s.cache.look(x.account, q, ps, x.entry.Time)
	return in
}

// complete answers a request, and says what its prompt finds in the cache and will leave there.
func (x *exchange) complete(q *request) (*reply, hit, *apiError) {
	in, err := x.read(q)
	if err != nil {
		return nil, hit{}, err
	}
	reply := x.reply
	switch {
	case q.summarizes():
		reply = x.summary
	case in.due():
		reply = x.compacted
	}
	rep, err := reply(in)
	if err != nil {
		return nil, hit{}, err
	}
	x.s.memory.keep(x.account, rep.calls, rep.signed)
	x.entry.Usage, x.entry.Stop, x.entry.Answer = rep.billed(), rep.stop, rep.message()
	return rep, in.found, nil
}

// reply answers a prompt.
func (x *exchange) reply(in *reading) (*reply, *apiError) {
	rep, err := x.s.answer(x.r.Context(), in, x.session(in.q.body), x.entry.Number)
	if err != nil {
		return nil, err
	}
	output := rep.usage.Output
	rep.usage = in.found.usage
	rep.usage.Output = output
	if in.q.betas.permit(betaDemand + "|" + betaCompact) {
		rep.passes = []pass{{kind: "message", usage: rep.usage}}
	}
	return rep, nil
}

// rateLimits are the headers that tell a client how much it may still ask for. The sandbox has no
// limits, so they never change.
func (x *exchange) rateLimits() {
	reset := x.entry.Time.Add(time.Minute).UTC().Format(time.RFC3339)
	for _, what := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		h := "Anthropic-Ratelimit-" + what
		x.w.Header().Set(h+"-Limit", "1000000")
		x.w.Header().Set(h+"-Remaining", "1000000")
		x.w.Header().Set(h+"-Reset", reset)
	}
}

// nextFault returns the fault of this request and notes it.
func (x *exchange) nextFault() Fault {
	x.s.mu.Lock()
	x.s.asked++
	n := x.s.asked
	x.s.mu.Unlock()
	f := x.s.fault(n, x.r)
	x.entry.Fault = f.Kind
	return f
}

// admit checks what depends on the server's own memory and keys, and returns the prompt as the model reads it.
func (s *Server) admit(account string, q *request) (*thoughts, *edited, *apiError) {
	if err := s.checkOpenTurn(account, q); err != nil {
		return nil, nil, err
	}
	th, err := s.checkThoughts(q)
	if err != nil {
		return nil, nil, err
	}
	return th, q.edit(th.dropped, s.counter), nil
}

// checkSize refuses what is too large (docs/reference/anthropic.md, "Refusals").
func (s *Server) checkSize(q *request, prompt int) *apiError {
	if limit := s.opts.MaxText; limit > 0 {
		if n := q.textBytes(); n > limit {
			return invalid("too many total text bytes: %d > %d", n, limit)
		}
	}
	window := q.model.Window
	if prompt > window {
		return invalid("prompt is too long: %d tokens > %d maximum", prompt, window)
	}
	if old := !q.model.Since(4, 5) && !q.betas.has(betaExceeded); old && prompt+q.max > window {
		return invalid("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again", prompt, q.max, window)
	}
	return nil
}

// textBytes returns the size of all text in system and messages.
func (q *request) textBytes() int {
	n := 0
	for _, p := range q.pieces(nil) {
		n += len(p.str("text")) + len(p.get("content").textOf())
	}
	return n
}

func (n *node) textOf() string {
	out := ""
	for _, b := range n.blocks() {
		out += b.str("text")
	}
	return out
}

// session returns what tells one client's conversations from another's.
func (x *exchange) session(body *node) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "X-Session-Id", "Session-Id"} {
		if id := x.r.Header.Get(name); id != "" {
			return id
		}
	}
	return cmp.Or(body.get("metadata").str("user_id"), body.str("prompt_cache_key"), x.account)
}

// answer asks the model. Whatever goes wrong there is a 500.
func (s *Server) answer(ctx context.Context, in *reading, session string, n int) (*reply, *apiError) {
	a := Answer{Stop: "max_tokens"}
	if in.q.max > 0 {
		var err *apiError
		if a, err = consult(ctx, s.model, in.q.prompt(session, in.ed)); err != nil {
			return nil, err
		}
	}
	rep, err := s.compose(in.q, in.th, a, in.tokens, n)
	if err != nil {
		return nil, internal("compose the answer", err)
	}
	if in.q.body.get("context_management") != nil {
		rep.edits = in.ed.appendApplied(nil)
	}
	return rep, nil
}

// consult asks a model.
func consult(ctx context.Context, m Model, p *Prompt) (a Answer, err *apiError) {
	defer func() {
		if v := recover(); v != nil {
			err = internal("the scripted model panicked", fmt.Errorf("%v", v))
		}
	}()
	a, merr := m.Answer(ctx, p)
	if merr != nil {
		return Answer{}, internal("the scripted model failed", merr)
	}
	return a, nil
}

// An outgoing answer is finished.
type outgoing struct {
	whole  []byte
	frames []frame // of a stream; nil when the answer is to be sent whole
	found  hit
}

// deliver sends an answer, and lets a fault break it on the way.
func (x *exchange) deliver(o outgoing, f Fault) *apiError {
	if f.After == 0 && f.Kind != FaultStreamError && f.Kind != FaultSlow && !x.s.strike(x.w, x.r, f, 0) {
		return nil
	}
	if o.frames == nil {
		if f.Kind == FaultStreamError {
			f.Kind = FaultInternal // there is no stream to put it in
			return f.refusal()
		}
		if f.Kind == FaultSlow && !x.s.strike(x.w, x.r, f, 0) {
			return nil
		}
		x.s.cache.commit(o.found)
		if f.Kind == FaultHalf {
			return x.sendHalf(o.whole)
		}
		return x.send(http.StatusOK, o.whole)
	}
	x.s.cache.commit(o.found)
	x.stream(o.frames, f)
	return nil
}

// sendHalf sends the first half of an answer and closes the connection.
func (x *exchange) sendHalf(body []byte) *apiError {
	x.entry.Status = http.StatusOK
	x.log()
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(http.StatusOK)
	x.w.Write(body[:len(body)/2]) // the client may be gone
	if http.NewResponseController(x.w).Flush() == nil {
		hangUp(x.w, false)
	}
	return nil
}

// stream sends an answer event by event. The log entry is complete before the last one.
func (x *exchange) stream(fs []frame, f Fault) {
	x.entry.Status = http.StatusOK
	x.w.Header().Set("Content-Type", sse.ContentType)
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	out := sse.NewWriter(x.w)
	f = f.of(len(fs))
	for i, fr := range fs {
		if f.Kind == FaultStreamError && i == f.After {
			x.log()
			over := apiError{status: statusOverloaded, kind: kindOverloaded, message: "Overloaded"}
			switch {
			case fs[0].name == "response.created":
				out.Event("error", marshal(object{
					"type", "error", "code", "server_is_overloaded", "message", over.message, "param", nil, "sequence_number", i,
				}))
			case x.openAI:
				out.Event("", over.chatBody())
			default:
				out.Event("error", over.body(x.requestID()))
			}
			return // the client may be gone; then nobody reads it
		}
		if i == len(fs)-1 || f.breaks(i) {
			x.log()
		}
		if i > 0 || f.Kind == FaultSlow {
			if !x.s.strike(x.w, x.r, f, i) {
				return
			}
		}
		if out.Event(fr.name, fr.data) != nil {
			return // the client is gone
		}
	}
}

// countTokens is POST /v1/messages/count_tokens.
func (x *exchange) countTokens() *apiError {
	q, err := x.request(true)
	if err != nil {
		return err
	}
	_, ed, err := x.s.admit(x.account, q)
	if err != nil {
		return err
	}
	n := count(q.pieces(ed), x.s.counter)
	x.entry.Prompt = n
	b := strconv.AppendInt([]byte(`{"input_tokens":`), int64(n), 10)
	if q.body.get("context_management") != nil {
		b = strconv.AppendInt(append(b, `,"context_management":{"original_input_tokens":`...), int64(cmp.Or(ed.before, n)), 10)
		b = append(b, '}')
	}
	return x.send(http.StatusOK, append(b, '}'))
}
