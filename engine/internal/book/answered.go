package book

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/purse"
)

// An Answer is what the provider has answered, as far as it is kept.
type Answer struct {
	Status       int
	ID           string       // by which a later request may name it, empty: none may
	Usage        decant.Usage // of the pass that wrote the answer, as reported
	Extra        decant.Usage // of other passes, which are billed as well
	Content      []byte       // a JSON list of blocks, nil when there was none
	Stop         string       // why the model stopped
	Broken       bool         // it ended before its end: it counts as none
	Organization string       // whom the provider has answered
	Batch        bool         // it came with a batch, at the price of batches
	BookedAs     string       // the id under which it is booked, empty: the request's own
}

// An Answered is a request with its answer.
type Answered struct {
	Answer
	Out          *Outgoing          // only its archive looks at it, and brings it up to date
	Prompt       *match.Prompt      // of the request; it never changes, so that other requests may look at it
	Body         []byte             // as it was sent
	Conversation string             // id, empty when it is not known
	Markers      *plan.AddedMarkers // cache markers of ours, nil where none are for us to add
	Held         *purse.Reservation // what it may cost at most, nil: no budget applies
	Passes       decant.Usage       // of summaries behind which the model has paused before it answered
	Billed       decant.Usage       // for the pass that wrote the answer
	Time         time.Time
}

// Footprint returns about how many bytes the answer takes that waits for its archive, with its request.
func (f Answered) Footprint() int {
	n := match.Footprint(f.Prompt.Doc.Source, 2*len(f.Prompt.Blocks)) + len(f.Content)
	if !match.SameBytes(f.Body, f.Out.Body) {
		n += len(f.Body)
	}
	return n
}

// Begins reports whether another request begins with this one.
func (f Answered) Begins(next *match.Prompt) bool { return f.Prompt.Begins(next) }

// Answered reports whether there was an answer, to its end.
func (f *Answered) Answered() bool { return f.Status/100 == 2 && !f.Broken }
