package engine

import (
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// futile remembers the conversations in which a pour for money was due and brought nothing, so that it
// is not planned again with every request: [Due] goes by what the ballast weighs and does not know
// whether it can go. It is kept in memory alone: an engine that does not know plans once more, which
// takes time and changes nothing. The zero value is empty.
type futile struct {
	mu sync.Mutex
	of map[store.Key]futility
}

// A futility is a pour that brought nothing. It holds until what it depended on is different, or more
// is there to pour: a twentieth of the request, and twice as much after each further failure.
type futility struct {
	terms
	times int
	until int // bytes of the request's body from which it is worth planning again
}

// terms are what the outcome of a pour for money depends on, besides the messages.
type terms struct {
	decisions int // of the conversation, those included that were taken back
	model     string
	fixed     decant.Hash
	preset    string
	thrift    preset.Thrift
}

// Bounds of what is remembered.
const (
	mostFutile = 4096 // conversations
	mostTimes  = 5    // failures after which the growth that is waited for stays the same
)

// terms returns those of the attempt's request.
func (a *attempt) terms() terms {
	return terms{
		decisions: len(a.state.Decisions), model: a.conv.Model, fixed: a.conv.Fixed.Version,
		preset: a.preset.Name, thrift: a.preset.Thrift,
	}
}

// holds reports whether a pour for money has brought nothing to the attempt's conversation and nothing
// has changed since.
func (x *futile) holds(a *attempt) bool {
	x.mu.Lock()
	f, ok := x.of[a.line.key]
	x.mu.Unlock()
	return ok && len(a.req.Body) < f.until && f.terms == a.terms()
}

// note remembers that a pour for money brought nothing to the attempt's request.
func (x *futile) note(a *attempt) {
	f := futility{terms: a.terms(), times: 1}
	bytes := 4 * Spare(a.view, a.thinning()).Whole
	x.mu.Lock()
	defer x.mu.Unlock()
	if was := x.of[a.line.key]; was.terms == f.terms {
		f.times = min(was.times+1, mostTimes)
	}
	f.until = len(a.req.Body) + 1 + int(worth*float64(bytes))<<(f.times-1)
	if x.of == nil || len(x.of) >= mostFutile {
		x.of = map[store.Key]futility{}
	}
	x.of[a.line.key] = f
}
