package replay

import "github.com/decantdev/decant/policy"

// A Worst says how dear a policy is for conversations that end early. Each recorded session could have ended behind any of its
// requests, also right behind a pour that has not paid yet. Each is held, up to there, against sending everything: prompts
// only, because the answers are the same. Requests from the first pour on that the window demanded do not count, nor those
// from the first that does not fit the window: there sending everything is no choice any more.
type Worst struct {
	Ends    int     `json:"ends"`    // at which a session could have ended
	Dearer  int     `json:"dearer"`  // of them, those at which the policy was dearer by more than one in a hundred
	Ratio   float64 `json:"ratio"`   // the worst: the prompts up to there as a share of those of sending everything
	Session string  `json:"session"` // whose end that is
	Request int     `json:"request"` // behind which
}

// dearer is the ratio above which an end counts as dearer.
const dearer = 1.01

// worst holds what the prompts of a run cost against those of sending everything, request by request.
func (r *run) worst(name string, everything []float64) (out Worst) {
	own, all := 0.0, 0.0
	for q := range min(r.forced, len(r.prompts), len(everything)) {
		own += r.prompts[q]
		all += everything[q]
		if all == 0 {
			continue
		}
		out.Ends++
		ratio := own / all
		if ratio > dearer {
			out.Dearer++
		}
		if ratio > out.Ratio {
			out.Ratio, out.Session, out.Request = ratio, name, q+1
		}
	}
	return out
}

// force notes from which request on the window leaves no choice.
func (r *run) force(q int, why policy.Reason) {
	if why == policy.Necessary && q < r.forced {
		r.forced = q
	}
}

// join returns both.
func (w Worst) join(o Worst) Worst {
	ends, dear := w.Ends+o.Ends, w.Dearer+o.Dearer
	if o.Ratio > w.Ratio {
		w = o
	}
	w.Ends, w.Dearer = ends, dear
	return w
}

// sendAll plays a conversation as one that is sent whole, and returns what each prompt costs as far as it fits the window.
func sendAll(seg *segment, lay *layout, o *Options) ([]float64, error) {
	r := newRun(seg, lay, o)
	err := r.play(Policy{start: startNone})
	return r.prompts[:min(r.forced, len(r.prompts))], err
}
