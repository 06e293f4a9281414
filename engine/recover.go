package engine

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// forced is what a refusal of the provider demands of the next attempt.
type forced struct {
	again  bool // the request was sent before
	reason Reason
	factor float64 // reported as a share of estimated, 0: not known
	window int     // that the provider named, 0: none
	bytes  int     // most bytes of the body, 0: the API's limit
	unedit bool    // the provider does not take the clearing of old results
}

// maxRecovers is how often a request is made anew after the provider refused it.
const maxRecovers = 2

// Recover returns another form of a prepared request that the provider has refused, for its size or
// because thinking in it is bound to another conversation. It returns false when the refusal is about
// something else, or when there is no other form: then it is the client's.
func (e *Engine) Recover(ctx context.Context, p *Prepared, status int, body []byte) (*Prepared, bool) {
	f := classify(status, body)
	f.unedit = f.reason == "" && p.clears() && status == http.StatusBadRequest && uneditable.MatchString(refusal(body))
	if f.reason == "" && !f.unedit || p.r == nil || p.recovers >= maxRecovers || e.mode(p.req) != Manage || p.req.Count {
		return nil, false
	}
	f.again = true
	if p.attempt == nil {
		return e.retry(ctx, p)
	}
	if f.reason == Refusal && p.Report.Reason == Refusal && p.Report.Route != "taken back" {
		return nil, false // that was the form that is always legal
	}
	e.learnFrom(p.attempt, f, body)
	f.measure(p, status)
	next, err := e.prepare(ctx, p.req, p.who, p.r, f)
	if err == nil && next.Report.Reason == "" {
		err = next.Fault
	}
	if err != nil || next.Report.Reason == "" && (!f.unedit || next.clears()) {
		e.note(err)
		return nil, false
	}
	return e.follow(p, next), true
}

// clears reports whether the prepared request asks the provider to clear something.
func (p *Prepared) clears() bool {
	if p.attempt == nil {
		return false
	}
	c, _ := p.attempt.clearing()
	return c != nil
}

// learnFrom remembers what a refusal says about the account.
func (e *Engine) learnFrom(a *attempt, f forced, body []byte) {
	switch {
	case f.unedit:
		e.learn(a.account(), editingOf(a.model), refused)
		e.opts.Notice(fmt.Sprintf("the provider does not clear old results for %s: %.200s", a.model.ID, refusal(body)))
	case f.reason == Overflow && f.factor > 0 && a.unedited(int(f.factor)):
		e.learn(a.account(), editingOf(a.model), mismatched)
	case f.reason == Refusal && enforcing.MatchString(refusal(body)):
		e.learn(a.account(), bindingTopic, enforced)
	}
}

// retry prepares once more, with more patience, what went out as the client sent it because the
// store did not answer: the refusal is most likely about what was decided before.
func (e *Engine) retry(ctx context.Context, p *Prepared) (*Prepared, bool) {
	next, err := e.prepare(ctx, p.req, p.who, p.r, forced{again: true})
	if err != nil || bytes.Equal(next.Body, p.Body) {
		e.note(err)
		return nil, false
	}
	return e.follow(p, next), true
}

// follow makes next the successor of p, which was refused.
func (e *Engine) follow(p, next *Prepared) *Prepared {
	next.req, next.who, next.r = p.req, p.who, p.r
	next.recovers = p.recovers + 1
	e.leaves(next)
	return next
}

// note tells about an error that does not become the answer to a request.
func (e *Engine) note(err error) {
	if err != nil {
		e.opts.Fault(err)
	}
}

// measure completes what a refusal demands by what was refused.
func (f *forced) measure(p *Prepared, status int) {
	a := p.attempt
	if f.reason == Overflow && status == http.StatusRequestEntityTooLarge {
		f.bytes = len(p.Body) / 2
	}
	if n := a.est.Messages(a.view.Messages); f.factor > 0 && n > 0 {
		f.factor = max(0, f.factor-float64(a.fixed)) / float64(n)
	}
}

// The texts by which a provider refuses a request for its size (anthropic-wire section 7) or for its
// thinking (section 11). Wording drifts, so they are matched loosely.
var (
	tooLong   = regexp.MustCompile(`(?i)prompt is too long(?:: (\d+) tokens > (\d+) maximum)?`)
	overLimit = regexp.MustCompile("(?i)input length and `?max_tokens`? exceed context limit: (\\d+) \\+ (\\d+) > (\\d+)")
	tooMany   = regexp.MustCompile(`(?i)too many total text bytes: (\d+) > (\d+)`)
	unbound   = regexp.MustCompile("(?i)bound to a different conversation|invalid `?signature`? in `?(redacted_)?thinking`? block")
	enforcing = regexp.MustCompile("(?i)bound to a different conversation")

	// A request that asks for a clearing was refused for that: the model does not have the strategy, or the
	// provider knows neither the field nor its beta.
	uneditable = regexp.MustCompile("(?i)context.management|clear_tool_uses|anthropic-beta|beta (flag|header)")
)

// classify says what a refusal demands; the reason is empty when it is about something else. The
// factor is the size in tokens that the provider has counted.
func classify(status int, body []byte) forced {
	if status == http.StatusRequestEntityTooLarge {
		return forced{reason: Overflow}
	}
	if status != http.StatusBadRequest {
		return forced{}
	}
	text := refusal(body)
	if m := overLimit.FindStringSubmatch(text); m != nil {
		output, window := number0(m[2]), number0(m[3])
		return forced{reason: Overflow, factor: float64(number0(m[1])), window: window - max(0, output-mostReserve)}
	}
	if m := tooMany.FindStringSubmatch(text); m != nil {
		return forced{reason: Overflow, bytes: number0(m[2])}
	}
	if m := tooLong.FindStringSubmatch(text); m != nil {
		return forced{reason: Overflow, factor: float64(number0(m[1])), window: number0(m[2])}
	}
	if unbound.MatchString(text) {
		return forced{reason: Refusal}
	}
	return forced{}
}

func number0(s string) int {
	n, _ := strconv.Atoi(s) // digits, or empty
	return n
}

// refusal returns the message of an error body, or the body when it is no such thing.
func refusal(body []byte) string {
	if jsonspan.Validate(body) != nil {
		return string(body)
	}
	e := topMember(body, "error")
	if e.IsZero() {
		return string(body)
	}
	if m := topMember(e.Of(body), "message"); !m.IsZero() {
		return jsonspan.Unquote(m.Of(e.Of(body)))
	}
	return string(body)
}
