package cost

import (
	"math"
	"time"
)

// A Belief is what the reports of one conversation have taught about its provider's cache, where they say
// something else than the request and the clock. The zero value has been taught nothing.
//
// A request is taken to find nothing in the cache when its model or its fixed part is another one than
// before, or when the lifetime that its markers asked for is over; and to find nothing ever where no marker
// is behind the messages. Each of these holds until a report says otherwise: clients change something on
// every request that the provider does not count, caches live longer than they have to, and some providers
// keep prompts unasked.
type Belief struct {
	Unmoved  int  `json:"unmoved,omitzero"`  // changes in a row after which the messages were still read
	Untried  bool `json:"untried,omitzero"`  // a change was acted upon, and no report has said whether rightly
	Outlived int  `json:"outlived,omitzero"` // seconds of the longest pause after which they were still read
	Gone     int  `json:"gone,omitzero"`     // unasked: seconds of the shortest pause after which they were not
	Unasked  bool `json:"unasked,omitzero"`  // they were read though no marker asked for it
	Plain    bool `json:"plain,omitzero"`    // they were not, and no marker asked for it
	Series   int  `json:"series,omitzero"`   // requests to come in which a change would be one of a series
}

// A Testimony is what one report says about the messages that the request before has left in the cache.
type Testimony uint8

// The testimonies.
const (
	Silent Testimony = iota // nothing
	Kept                    // they were read
	Lost                    // they were not
)

// The least that messages must take for a report to be a testimony about them, in tokens, and how much more
// than estimated the fixed part may take.
const (
	leastWitness = 1000
	fixedMargin  = 1.25
)

// Testify returns what a report says that read so many tokens: left is what the request before had left in
// the cache, of which fixed are its system prompt and tools. These are no evidence: any other conversation
// keeps them warm. At least half of the rest must be read.
func Testify(left, fixed, read int) Testimony {
	floor := int(fixedMargin * float64(fixed))
	switch {
	case left < floor+leastWitness:
		return Silent
	case read >= floor+(left-floor)/2:
		return Kept
	}
	return Lost
}

// A Moment is how a request stood to the one before.
type Moment struct {
	Changed bool          // it names another model, or has another fixed part
	Asked   bool          // a cache marker is behind its messages
	Pause   time.Duration // since the request before
	Life    time.Duration // that the markers behind the messages ask for
}

// seriesLength is how many requests after a change another one is of the same series.
const seriesLength = 16

// Learn returns the belief after a report about a request at a moment.
func (b Belief) Learn(m Moment, t Testimony) Belief {
	if b.Series = max(0, b.Series-1); m.Changed {
		b.Series = seriesLength
	}
	if !m.Changed {
		b.Untried = false // a change that lasts does not come with every request
	}
	pause := int(m.Pause / time.Second)
	switch t {
	case Kept:
		if m.Changed {
			b.Unmoved, b.Untried = b.Unmoved+1, false
		}
		if !m.Asked {
			b.Unasked, b.Plain = true, false
		}
		if m.Pause >= m.Life {
			b.Outlived = max(b.Outlived, pause)
		}
		if b.Gone > 0 && pause >= b.Gone {
			b.Gone = 0
		}
	case Lost:
		b = b.lost(m, pause)
	}
	return b
}

// lost learns from a report that nothing of the messages was read.
func (b Belief) lost(m Moment, pause int) Belief {
	switch {
	case m.Changed:
		b.Unmoved, b.Untried = 0, false
		return b
	case !m.Asked && !b.Unasked:
		b.Plain = true
		return b
	case pause <= b.Outlived:
		b.Outlived = 0
	}
	if !m.Asked && pause >= short && (b.Gone == 0 || pause < b.Gone) { // before that it is a matter of doubt
		b.Gone = pause
	}
	return b
}

// Acted returns the belief after a rewrite for which a change was the reason, so that nothing can be said
// about the messages before it.
func (b Belief) Acted() Belief {
	b.Untried = true
	return b
}

// Moves reports whether a change of model or fixed part is believed to leave nothing in the cache. After one
// that was acted upon in vain, another is first watched.
func (b Belief) Moves() bool { return b.Unmoved == 0 && !b.Untried }

// Restless reports whether changes come one after the other, as with a clock in the system prompt: one more says
// nothing that the next will not say as well.
func (b Belief) Restless() bool { return b.Series > 0 }

// Life returns for how long the messages are believed to be kept that markers ask to be kept for so long, 0
// when none does: 0 means that they are not kept, forever that nothing is known of an end.
func (b Belief) Life(asked time.Duration) time.Duration {
	outlived := time.Duration(b.Outlived) * time.Second
	switch {
	case asked > 0:
		return max(asked, outlived)
	case b.Plain:
		return 0
	case b.Gone > 0:
		return max(time.Duration(b.Gone)*time.Second-1, outlived)
	}
	return forever
}

const forever time.Duration = math.MaxInt64
