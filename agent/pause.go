package agent

import (
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
)

// summaryTokens is how many tokens a summary may have behind which a model pauses: what is usual, and somewhat more.
const summaryTokens = 8000

// behind returns what to send next where the answer to a request is a summary behind which the model has paused, nil for any other
// answer. The budget is looked at there: where it has no room for a further call and a final answer after it, the error is
// errNoRoom, and the run comes to its end. A final answer is never asked for in this way.
func (r *asking) behind(p *engine.Prepared, a *provider.Answer) (*engine.Prepared, error) {
	next, err := r.agent.opts.Engine.Paused(r.ctx, p, engine.Response{Status: http.StatusOK, Usage: a.Usage, Content: a.Content, Stop: a.Stop, Batch: a.Batch})
	if err != nil {
		r.drop(p)
		return nil, err
	}
	if next == nil {
		return nil, nil
	}
	err = r.step(&step{Spent: r.meter.pass(a)})
	n := need{sizeOf(next), r.thinks(r.Messages()).most, r.agent.finalTokens(r.room.halved), 2*r.agent.opts.MaxTokens + r.agent.wrapUpTokens()}
	if err == nil && !r.meter.hold(n) { // the summary stays: see smaller
		err = errNoRoom
	}
	if err != nil {
		r.drop(next)
		return nil, err
	}
	r.pour(next)
	r.tellPour()
	return next, nil
}

// less returns usage without some of it.
func less(u, part decant.Usage) decant.Usage {
	u.Input, u.CacheRead, u.CacheWrite = u.Input-part.Input, u.CacheRead-part.CacheRead, u.CacheWrite-part.CacheWrite
	u.Write1h, u.Output = u.Write1h-part.Write1h, u.Output-part.Output
	return u
}
