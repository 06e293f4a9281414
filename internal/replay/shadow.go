package replay

// A Shadow says what watching the agent before a pour was worth. Each checkpoint is made twice: as a candidate that
// nobody has watched the agent for, and as it is, with what the model used while everything was still in view
// (policy.PlanOptions.Ahead). Both are held against the strings that the model wrote in the five answers behind the
// pour and that nothing had shown to it again, by the rules of internal/ruler.
type Shadow struct {
	Checkpoints int `json:"checkpoints"` // that were made behind at least one request which could be watched
	Unwatched   int `json:"unwatched"`   // made at once, because a single request brought more than the watched tokens: counted here and nowhere else
	Changed     int `json:"changed"`     // records that are different from the candidate's
	Idle        int `json:"idle"`        // of them, those in which nothing that was used is better off
	Refused     int `json:"refused"`     // candidates in place of which another range was covered

	Absent     Lack `json:"absent"`     // a string is nowhere in the view
	Ungrounded Lack `json:"ungrounded"` // it is nowhere, or on no line that shares four plain words with one where it stood
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
	return Shadow{
		s.Checkpoints + o.Checkpoints, s.Unwatched + o.Unwatched, s.Changed + o.Changed, s.Idle + o.Idle, s.Refused + o.Refused,
		s.Absent.sum(o.Absent), s.Ungrounded.sum(o.Ungrounded),
	}
}

func (l Lack) sum(o Lack) Lack {
	return Lack{
		l.Checkpoints + o.Checkpoints, l.Repaired + o.Repaired, l.Whole + o.Whole, l.Strings + o.Strings, l.Kept + o.Kept, l.Lost + o.Lost,
	}
}

// SumShadows adds up what was found in several sessions, policy by policy; nil when nobody asked for it.
func SumShadows(ss []*Session) (out []Shadow) {
	for _, s := range ss {
		for i := range s.Shadows {
			if i == len(out) {
				out = append(out, Shadow{})
			}
			out[i] = out[i].sum(s.Shadows[i])
		}
	}
	return out
}
