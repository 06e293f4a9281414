package scan

import (
	"cmp"
	"slices"
	"time"

	"github.com/decantdev/decant/internal/secret"
)

// A Kind says how the person stated a candidate.
type Kind string

// The kinds.
const (
	Order      Kind = "order"      // a standing order
	Correction Kind = "correction" // a correction of what the model did
	Request    Kind = "request"    // the same request in several sessions
)

// Evidence is one place in a session, mostly one where the person said something.
type Evidence struct {
	Session string    `json:"session"`
	File    string    `json:"file,omitempty"`
	ID      string    `json:"id,omitempty"` // of the message, which a copy in another session shares
	Message int       `json:"message"`
	Time    time.Time `json:"time,omitzero"`
	Quote   string    `json:"quote"` // without credentials
}

// A Candidate is what the person said that could become a rule.
type Candidate struct {
	Text     string // in the person's words
	Kind     Kind
	Sessions int        // different ones among the evidence
	Evidence []Evidence // in the order of the sessions
}

// minRequests is in how many sessions a plain request must recur to be a candidate.
const minRequests = 3

// A statement is a sentence that may be a candidate.
type statement struct {
	Evidence
	kind     Kind
	words    bag
	negative bool
}

// Candidates returns what the person said in sessions that could become a rule, the most sessions first. A
// sentence about the thing at hand, such as "no, remove it", is not a candidate. A plain request is one from
// the third session on.
func Candidates(ss []Session) []Candidate {
	var groups [][]statement
	for i := range ss {
		for _, st := range statements(&ss[i]) {
			groups = gather(groups, st)
		}
	}
	var out []Candidate
	for _, g := range groups {
		if c := candidate(g); c.Kind != Request || c.Sessions >= minRequests {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)), cmp.Compare(len(b.Evidence), len(a.Evidence)))
	})
	return out
}

// Longest and shortest candidate, in bytes.
const maxRule, minRule = 240, 8

// statements returns the sentences of a session that may be candidates.
func statements(s *Session) (out []statement) {
	for _, said := range s.said {
		if len(said.Text) > maxRule || len(said.Text) < minRule {
			continue
		}
		var kind Kind
		switch {
		case orders(said.Text) && !passes(said.Text):
			kind = Order
		case said.First && corrects(said.Text) && !passes(said.Text):
			kind = Correction
		case directs(said.Text):
			kind = Request
		default:
			continue
		}
		if w := about(said.Text); len(w) >= 2 {
			e := Evidence{s.ID, s.File, said.ID, said.Message, said.Time, secret.Mask(said.Text)}
			out = append(out, statement{e, kind, w, negates(said.Text)})
		}
	}
	return out
}

// gather adds a statement to the first group with a similar one.
func gather(groups [][]statement, st statement) [][]statement {
	for i, g := range groups {
		for j := range g {
			if g[j].negative == st.negative && alike(g[j].words, st.words) {
				groups[i] = append(g, st)
				return groups
			}
		}
	}
	return append(groups, []statement{st})
}

// candidate sums up a group by the clearest and shortest of its statements.
func candidate(g []statement) Candidate {
	best := slices.MinFunc(g, func(a, b statement) int {
		return cmp.Or(cmp.Compare(kindRank(a.kind), kindRank(b.kind)), cmp.Compare(b.shared(g), a.shared(g)), cmp.Compare(len(a.Quote), len(b.Quote)))
	})
	c := Candidate{Text: best.Quote, Kind: best.kind}
	seen := map[string]bool{}
	for i := range g {
		c.Evidence = append(c.Evidence, g[i].Evidence)
		seen[g[i].Session] = true
	}
	c.Sessions = len(seen)
	return c
}

// shared counts the words that a statement shares with those of a group.
func (st *statement) shared(g []statement) (n int) {
	for i := range g {
		n += overlap(st.words, g[i].words)
	}
	return n
}

func kindRank(k Kind) int { return slices.Index([]Kind{Order, Correction, Request}, k) }
