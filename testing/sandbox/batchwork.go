package sandbox

import (
	"net/http"
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/jsonspan"
)

// work ends a batch that has not ended: its requests are answered, or canceled, or have expired. x is who looks. The
// batch is locked.
func (b *batch) work(x *exchange) {
	if !b.ended.IsZero() || b.cancelled.IsZero() && x.entry.Time.Sub(b.created) < x.s.opts.BatchTime {
		return
	}
	b.counts = map[string]int{}
	for i := range b.items {
		kind, result := "canceled", []byte(`{"type":"canceled"}`)
		switch {
		case !b.cancelled.IsZero():
		case x.entry.Time.Sub(b.created) > batchLife:
			kind, result = "expired", []byte(`{"type":"expired"}`)
		default:
			kind, result = b.answer(x, b.items[i].params)
		}
		b.counts[kind]++
		line := jsonspan.AppendQuote([]byte(`{"custom_id":`), b.items[i].id)
		b.results = append(append(append(append(b.results, line...), `,"result":`...), result...), "}\n"...)
	}
	b.ended = x.entry.Time
	b.keep(x.s.opts.Batches)
}

// answer answers one request and returns its result.
func (b *batch) answer(x *exchange, params *node) (kind string, result []byte) {
	b.from.s.mu.Lock()
	b.from.s.n++
	n := b.from.s.n
	b.from.s.mu.Unlock()
	y := b.from
	y.r, y.entry = x.r, Entry{Number: n, Time: x.entry.Time, Method: http.MethodPost, Path: batchesPath, Body: params.raw}
	rep, err := y.batched(params)
	if err == nil {
		y.entry.Status = http.StatusOK
		y.log()
		return "succeeded", append(append([]byte(`{"type":"succeeded","message":`), rep...), '}')
	}
	y.entry.Status, y.entry.Error = err.status, err.message
	y.log()
	return "errored", append(append([]byte(`{"type":"errored","error":`), err.body(y.requestID())...), '}')
}

// batched answers a request of a batch.
func (x *exchange) batched(params *node) ([]byte, *apiError) {
	for _, name := range []string{"stream", "speed", "thread"} {
		if params.get(name) != nil {
			return nil, invalid("%s: not allowed in a message batch", name)
		}
	}
	q, err := x.check(params, false)
	if err != nil {
		return nil, err
	}
	if q.max == 0 {
		return nil, invalid("max_tokens: must be greater than 0 in a message batch")
	}
	q.batch = true
	rep, h, err := x.complete(q)
	if err != nil {
		return nil, err
	}
	rep.tier = "batch"
	x.s.cache.commit(h)
	x.entry.Answer = rep.message()
	return x.entry.Answer, nil
}

// show returns the batch as the API shows it. The batch is locked, or new.
func (b *batch) show(r *http.Request) []byte {
	status, results := "in_progress", "null"
	switch {
	case !b.ended.IsZero():
		status, results = "ended", string(jsonspan.AppendQuote(nil, "http://"+r.Host+batchesPath+"/"+b.id+"/results"))
	case !b.cancelled.IsZero():
		status = "canceling"
	}
	out := []byte(`{"id":"` + b.id + `","type":"message_batch","processing_status":"` + status + `","request_counts":{`)
	for i, name := range []string{"processing", "succeeded", "errored", "canceled", "expired"} {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(append(append(out, '"'), name...), `":`...), int64(b.counts[name]), 10)
	}
	out = append(out, `},"created_at":`+moment(b.created)+`,"expires_at":`+moment(b.created.Add(batchLife))...)
	out = append(out, `,"ended_at":`+moment(b.ended)+`,"cancel_initiated_at":`+moment(b.cancelled)...)
	return append(out, `,"archived_at":null,"results_url":`+results+`}`...)
}

// moment writes a time as JSON, null when there is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "null"
	}
	return strconv.Quote(t.UTC().Format(time.RFC3339))
}
