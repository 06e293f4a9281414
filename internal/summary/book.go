package summary

import (
	"github.com/decantdev/decant"
)

// An entry is one thing that a record may say: a whole line, or a few, under the heading of a group.
type entry struct {
	sec    section
	group  int32 // of the heading above it; -1: no heading
	number int   // of the message that it is from; 0: it says so itself, or does not matter
	text   string
	line   int32   // of the lexicon, with the facts and words in it
	value  float32 // of being said, whatever is in it, in chances of facts
	voice  float32 // how much its words count
	warm   float32 // additional worth, because the agent uses its text now
	cost   float32
	must   must
	under  int32 // 1 + the entry that must stand before it, as the head of a function does; 0: none
	head   bool  // such an entry
	joins  bool  // it stands directly behind the entry before
}

// must says how early an entry is taken, before all that compete for the rest of the budget. The zero
// value competes.
type must uint8

// What comes first, in order.
const (
	compete    must = iota
	mustHandle      // what still runs or is open
	mustGoal        // the task, and the newest that the user said
	mustRule        // an instruction that stays in force
	mustUser        // what else the user typed; what does not fit comes again behind mustDone
	mustEffect      // what a tool has done in the world
	mustDone        // what came of a finished job
	mustState       // the state of the work
	mustPlan        // what is left of the plan
	mustChange      // a file that was changed
	mustFile        // a file that was read only
	mustWanted      // a line of what the agent uses now
	musts
)

// shares are the parts of the budget that what comes first may take, each with those before it: a record of
// nothing but files would be of no use. What the user typed leaves room for what tools did, and then takes what is left of
// theirs.
var shares = [musts]float64{
	compete: 1, mustHandle: .25, mustGoal: .5, mustRule: .5, mustUser: .45, mustEffect: .85, mustDone: .85, mustState: .87, mustPlan: .9,
	mustChange: .9, mustFile: .9, mustWanted: .97,
}

// A group is what entries have in common: a heading line.
type group struct {
	head  string
	line  int32 // of the lexicon; -1: none
	cost  float32
	value float32
	at    int // its place in the section
}

// A book holds everything that a record of a source may say.
type book struct {
	manner
	src       *source
	lex       *lexicon
	budget    float64 // tokens, by the package's own estimate
	noResults bool
	present   int       // index of the message from which on nothing is of a finished job
	lines     int       // of the lexicon that are of the source, and not of segments only
	words     int       // the same of its words
	written   grounding // of lines of segments
	authors   string    // of the segments that the record has lines of, empty: it has none
	entries   []entry
	groups    []group
}

// add adds an unchanged entry and returns its index.
func (b *book) add(e entry) int {
	if e.line < 0 {
		e.line = b.lex.line(e.text, false)
	}
	if e.cost == 0 {
		e.cost = b.lex.lines[e.line].cost
	}
	b.entries = append(b.entries, e)
	return len(b.entries) - 1
}

// heading makes a group.
func (b *book) heading(head string, at int) int32 {
	g := group{head: head, line: -1, at: at}
	if head != "" {
		g.line = b.lex.line(head, false)
		g.cost = b.lex.lines[g.line].cost
	}
	b.groups = append(b.groups, g)
	return int32(len(b.groups) - 1)
}

// speaker returns whose words a text is, for the chance that what it names is needed again.
func (t *text) speaker() decant.Author {
	switch t.author {
	case byUser, byAnswer, byEarlier:
		return decant.AuthorUser
	case byModel:
		return decant.AuthorModel
	}
	return decant.AuthorTool
}
