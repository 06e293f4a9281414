package tracing

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
)

// An End is what is known about a request when it is over.
type End struct {
	Status   int   // 0: the client got none
	Received int64 // bytes of the body, -1 if unknown
	Answered int64 // bytes of the answer's body

	Whole   bool // the client got all of the answer
	Left    bool // the client did not wait for all of the answer
	Cut     bool // the gateway had to stop
	Refused bool // the gateway itself refused
	Failed  bool // the upstream gave no answer

	Tenant string
	Preset string // empty: the gateway's own
	Usage  decant.Usage
}

// End ends the request's span.
func (q *Request) End(e End) {
	if q == nil {
		return
	}
	q.endCall(&e.Usage)
	if q.span.IsRecording() {
		q.conclude(&e)
	}
	q.span.End()
}

// conclude says how a request has ended.
func (q *Request) conclude(e *End) {
	s := q.span
	s.SetAttributes(outcomeName.String(q.outcome(e)), httpResponseSize.Int64(e.Answered))
	if e.Received >= 0 {
		s.SetAttributes(httpRequestSize.Int64(e.Received))
	}
	if e.Status != 0 {
		s.SetAttributes(httpStatus.Int(e.Status))
		failedStatus(s, e.Status, http.StatusInternalServerError)
	}
	if e.Refused {
		s.SetAttributes(refusedReason.String(reasons[e.Status]))
	}
	switch {
	case e.Whole:
	case e.Cut:
		s.SetAttributes(wasCut.Bool(true))
		failed(s, "cut")
	case e.Left:
		s.SetAttributes(clientLeft.Bool(true))
	default:
		failed(s, "broken_off")
	}
	if e.Tenant != "" && q.t.opts.Tenants {
		s.SetAttributes(tenantName.String(e.Tenant))
	}
	if q.prepared != nil {
		q.managed(e.Preset)
	}
}

// reasons say why the gateway refused, by the status of the refusal.
var reasons = map[int]string{
	http.StatusBadRequest: "invalid", http.StatusUnauthorized: "key", http.StatusPaymentRequired: "budget", http.StatusForbidden: "unmetered",
	http.StatusMethodNotAllowed: "method", http.StatusRequestTimeout: "body_stalled", http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnsupportedMediaType: "encoding", http.StatusMisdirectedRequest: "host", http.StatusTooManyRequests: "rate",
	http.StatusServiceUnavailable: "no_room", http.StatusUpgradeRequired: "socket",
}

// outcome says in a word what was done about a request.
func (q *Request) outcome(e *End) string {
	p := q.prepared
	switch {
	case e.Refused:
		return "refused"
	case q.tries == 0 && e.Left:
		return "left"
	case e.Failed, q.tries == 0:
		return "failed"
	case p == nil:
		return "forwarded"
	case p.Report.Planned != nil:
		return "observed"
	case p.Report.Reason != "":
		return "poured"
	case p.Report.LeftOut > 0, len(p.Report.Decisions) > 0:
		return "replayed"
	}
	return "forwarded"
}

// managed says what the engine did.
func (q *Request) managed(preset string) {
	p, r := q.prepared, &q.prepared.Report
	if preset == "" {
		preset = q.t.opts.Preset
	}
	as := []attribute.KeyValue{presetName.String(preset)}
	if p.Conversation != "" {
		as = append(as, conversationID.String(p.Conversation), relationName.String(r.Relation), messageCount.Int(r.Messages),
			tokensBefore.Int(r.Before), tokensAfter.Int(r.After), tokensLeftOut.Int(r.LeftOut), tokensFreed.Int(r.Freed))
	}
	if r.Reason != "" {
		as = append(as, pourReason.String(string(r.Reason)), pourRoute.String(r.Route))
	}
	if x := r.Planned; x != nil {
		as = append(as, planTokens.Int(x.Tokens), planReason.String(string(x.Reason)))
	}
	if p.Fault != nil {
		as = append(as, hasFault.Bool(true))
	}
	q.span.SetAttributes(append(as, decided(r)...)...)
}

// decided counts decisions by their kinds.
func decided(r *engine.Report) (out []attribute.KeyValue) {
	n := map[decant.DecisionKind]int{}
	for i := range r.Decisions {
		n[r.Decisions[i].Kind]++
	}
	for kind, count := range n {
		out = append(out, attribute.Int(decisionPrefix+string(kind), count))
	}
	return out
}
