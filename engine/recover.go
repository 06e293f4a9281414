package engine

import (
	"bytes"
	"context"
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
}

// maxRecovers is how often a request is made anew after the provider refused it.
const maxRecovers = 2

// Recover returns another form of a prepared request that the provider has refused, for its size or
// because thinking in it is bound to another conversation. It returns false when the refusal is about
// something else, or when there is no other form: then it is the client's.
func (e *Engine) Recover(ctx context.Context, p *Prepared, status int, body []byte) (*Prepared, bool) {
	f := classify(status, body)
	if f.reason == "" || p.r == nil || p.recovers >= maxRecovers || e.mode(p.req) != Manage || p.req.Count {
		return nil, false
	}
	f.again = true
	if p.attempt == nil {
		return e.retry(ctx, p)
	}
	if f.reason == Refusal && p.recovers > 0 {
		return nil, false
	}
	f.measure(p, status)
	next, err := e.prepare(ctx, p.req, p.who, p.r, f)
	if err == nil && next.Report.Reason == "" {
		err = next.Fault
	}
	if err != nil || next.Report.Reason == "" {
		e.note(err)
		return nil, false
	}
	return p.follow(next), true
}

// retry prepares once more, with more patience, what went out as the client sent it because the
// store did not answer: the refusal is most likely about what was decided before.
func (e *Engine) retry(ctx context.Context, p *Prepared) (*Prepared, bool) {
	next, err := e.prepare(ctx, p.req, p.who, p.r, forced{again: true})
	if err != nil || bytes.Equal(next.Body, p.Body) {
		e.note(err)
		return nil, false
	}
	return p.follow(next), true
}

// follow makes next the successor of p, which was refused.
func (p *Prepared) follow(next *Prepared) *Prepared {
	next.req, next.who, next.r = p.req, p.who, p.r
	next.recovers = p.recovers + 1
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
