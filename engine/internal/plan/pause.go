package plan

import (
	"context"

	"github.com/decantdev/decant/policy"
)

// pausing carries out a pour by a summary that the model has written in place of an answer, and behind which it has paused.
var pausing = route{name: "compacted at a pause", carry: pausedRoute}

// pauses reports whether the model can be asked, in the client's own request, to write a summary in place of an answer. The
// provider counts for itself, and answers as always where it finds the request smaller. Bound thinking in an open round would
// not outlive it, and where all stays that there is no summary serves.
func pauses(p *Pour, why policy.Reason, target int) bool {
	in := p.Draft.Input
	may := why == policy.Necessary && !p.quick && in.Demand.Reason == "" && p.Draft.Pauses() && len(p.Draft.Suspended) == 0 &&
		p.Draft.Outcome.Before < p.Draft.Limits.Must() && !(p.Draft.Bound() && in.Conv.OpenRound())
	if !may {
		return false
	}
	sent, err := p.Draft.Sent()
	return err == nil && summaryCut(p.Draft, sent, target) > 0
}

// pausedRoute carries out pausing: the summary stands first, in the bytes in which it came, and the newest rounds behind it.
// Thinking in these is bound to what the summary is about, so it goes.
func pausedRoute(ctx context.Context, p *Pour, target int) error {
	in := p.Draft.Input
	sent, err := p.Draft.Sent()
	if err != nil {
		return err
	}
	cut := summaryCut(p.Draft, sent, target)
	if cut == 0 {
		return errNoRoute
	}
	bound := p.Draft.Bound()
	if err := replace(ctx, p, sent.Messages[cut].Number, *in.Demand.Summary, in.Demand.Paid); err != nil || !bound {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}
