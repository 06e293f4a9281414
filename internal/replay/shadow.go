package replay

// A Shadow says what watching the agent before a pour was worth. Each checkpoint is made twice, for the same size: as a
// candidate that nobody has watched the agent for, and as it is, with what the model used while everything was still in
// view (policy.PlanOptions.Ahead). Both are held against the strings that the model wrote in the five answers behind the
// pour and that nothing had shown to it again, by the rules of internal/ruler.
type Shadow struct {
	Held            // checkpoints that the window demanded, made behind at least one request which could be watched
	Unwatched int   `json:"unwatched"` // the same made at once, because a single request brought more than the watched tokens: counted here and nowhere else
	Early     Held  `json:"early"`     // checkpoints that paid for themselves: no plan waits for them, and what the newest messages use is known when they are made
	Ready     Ready `json:"ready"`     // plans that a gateway would have made ahead
}

// A Held counts checkpoints that were held against their candidates.
type Held struct {
	Checkpoints int  `json:"checkpoints"`
	Changed     int  `json:"changed"`    // records that are different from the candidate's
	Idle        int  `json:"idle"`       // of them, those in which nothing that was used is better off
	Refused     int  `json:"refused"`    // candidates in place of which another range was covered
	Absent      Lack `json:"absent"`     // a string is nowhere in the view
	Ungrounded  Lack `json:"ungrounded"` // it is nowhere, or on no line that shares four plain words with one where it stood
	Anywhere    Lack `json:"anywhere"`   // the same where not only the first places of a string count, as in [Joined]
}

// A Lack counts what candidates lacked of what was used behind them.
type Lack struct {
	Checkpoints int `json:"checkpoints"` // candidates that lacked something
	Repaired    int `json:"repaired"`    // of them, those where the checkpoint has some of it, with its context
	Whole       int `json:"whole"`       // of them, those where it has all of it
	Strings     int `json:"strings"`     // that were lacking
	Kept        int `json:"kept"`        // of them, those that the checkpoint has, with their context
	Lost        int `json:"lost"`        // that the candidate had and the checkpoint lacks
}

// steps is how many answers behind a pour are asked for what they used.
const steps = 5

// take counts one string: whether the candidate had it, and whether the checkpoint has it with its context, or at all.
func (l *Lack) take(had, grounded, has bool) {
	switch {
	case had && !has:
		l.Lost++
	case !had:
		l.Strings++
		if grounded {
			l.Kept++
		}
	}
}

// settle counts one checkpoint when its strings have been counted.
func (l *Lack) settle() {
	if l.Strings > 0 {
		l.Checkpoints = 1
	}
	if l.Kept > 0 {
		l.Repaired = 1
	}
	if l.Strings > 0 && l.Kept == l.Strings {
		l.Whole = 1
	}
}

// sum adds up.
func (s Shadow) sum(o Shadow) Shadow {
	return Shadow{s.Held.sum(o.Held), s.Unwatched + o.Unwatched, s.Early.sum(o.Early), s.Ready.sum(o.Ready)}
}

func (h Held) sum(o Held) Held {
	return Held{
		h.Checkpoints + o.Checkpoints, h.Changed + o.Changed, h.Idle + o.Idle, h.Refused + o.Refused,
		h.Absent.sum(o.Absent), h.Ungrounded.sum(o.Ungrounded), h.Anywhere.sum(o.Anywhere),
	}
}

func (l Lack) sum(o Lack) Lack {
	return Lack{
		l.Checkpoints + o.Checkpoints, l.Repaired + o.Repaired, l.Whole + o.Whole, l.Strings + o.Strings, l.Kept + o.Kept, l.Lost + o.Lost,
	}
}

// A Ready says what has become of the plans that a gateway makes ahead of pours, and what they are worth. Strings are those that the
// five answers behind the pour used and nothing had shown again; a view grounds them by the rules of internal/ruler.
type Ready struct {
	Pours     int `json:"pours"`     // for which a plan waited
	Plans     int `json:"plans"`     // that were made for them
	Surprised int `json:"surprised"` // pours that were planned at once, because more had come than was expected, or less
	Lacking   int `json:"lacking"`   // because the plan lacked something that the model had used since: it was refused
	False     int `json:"false"`     // of these, those whose plan lacked nothing that was used behind the pour

	Strings int  `json:"strings"` // that were used behind pours for which a plan was taken
	Once    int  `json:"once"`    // of them, those that the view grounds which is planned at once
	Swapped int  `json:"swapped"` // and that with the plan which was taken
	First   Lack `json:"first"`   // what plans lacked that were made first, before anybody was watched, and the pours have
}

func (r Ready) sum(o Ready) Ready {
	return Ready{
		r.Pours + o.Pours, r.Plans + o.Plans, r.Surprised + o.Surprised, r.Lacking + o.Lacking, r.False + o.False,
		r.Strings + o.Strings, r.Once + o.Once, r.Swapped + o.Swapped, r.First.sum(o.First),
	}
}
