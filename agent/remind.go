package agent

import (
	"bytes"
	"slices"

	"github.com/decantdev/decant/engine"
)

// ready prepares the next request, and returns the history that it has. What the model is reminded of after a pour stands in the
// request that was poured: it is prepared once more then. A reminder stands at the end, so that it changes nothing that the provider has
// in its cache, and stays there until a pour takes it away, which brings the next one.
func (r *asking) ready(last Stop) (*engine.Prepared, history, error) {
	r.told = false
	h := history(r.Messages())
	if r.owed {
		h = r.remind(h)
	}
	p, full, err := r.prepareLast(h, last)
	if err == nil {
		var parted bool
		if parted, err = r.part(p); parted || err != nil {
			r.drop(p)
		}
		if parted && err == nil {
			return r.ready(last)
		}
	}
	if err != nil || r.told || !r.owed {
		return p, full, err
	}
	if h = r.remind(h); !r.told {
		return p, full, nil
	}
	r.drop(p)
	return r.prepareLast(h, last)
}

// prepareLast prepares a request, with what is said to a model at a limit. It returns the history that it has.
func (r *asking) prepareLast(h history, last Stop) (*engine.Prepared, history, error) {
	if last != "" && !bytes.HasSuffix(h[len(h)-1], append(textBlock(r.agent.opts.WrapUp), `]}`...)) { // else an attempt before this one has said it
		h = wrapped(h, r.agent.opts.WrapUp)
	}
	p, err := r.prepare(h, last != "")
	return p, h, err
}

// remind returns a history at whose end the model is reminded.
func (r *asking) remind(h history) history {
	f := r.agent.opts.Remind
	if f == nil || !bytes.HasPrefix(h[len(h)-1], []byte(userStart)) {
		return h
	}
	text := f(slices.Clone(h))
	if text == "" {
		return h
	}
	r.told = true
	return wrapped(h, text)
}

// pour notes that a request was poured.
func (r *run) pour(p *engine.Prepared) {
	if r.sealed() && p.Report.Reason != "" {
		r.seal.poured = true
	}
	if pour := poured(p); pour != nil {
		r.poured, r.owed = pour, true
	}
}

// tellPour tells of the pour that a request is sent after.
func (r *run) tellPour() {
	if r.poured != nil {
		r.emit(Event{Kind: EventPour, Pour: r.poured})
		r.poured = nil
	}
}
