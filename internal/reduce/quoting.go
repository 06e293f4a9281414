package reduce

import "cmp"

// A Quoting sets how many lines a stub quotes of its original. The zero value quotes none: the stub lists
// names only.
//
// The worth of a name depends on its line. Measured on recorded sessions, a fifth of a result, taken line by
// line for the names in them, keeps nearly all that the agent writes next, and costs less than leaving the
// whole result in view for a few rounds more.
type Quoting struct {
	Share float64 // of the result's tokens that lines may take; zero quotes nothing
	Most  int     // tokens that lines may take whatever the share; zero means 1,000
	Names int     // tokens of further names behind the lines; zero means 100
}

const (
	mostQuoted  = 1000 // Quoting.Most
	quotedNames = 100  // Quoting.Names
	writtenPart = 0.5  // share of Quoting.Share for what the agent wrote itself: it is in the file
)

func (q Quoting) on() bool { return q.Share > 0 }

// written returns q for the arguments of a call instead of its result.
func (q Quoting) written() Quoting {
	q.Share *= writtenPart
	return q
}

// room returns the tokens for lines and for names in the stub of a result of n tokens.
func (q Quoting) room(n int) (lines, names int) {
	part := int(float64(n) * q.Share)
	return min(cmp.Or(q.Most, mostQuoted), part), min(cmp.Or(q.Names, quotedNames), part)
}

// Left returns about how many tokens the stub of a result of n tokens takes, without making it.
func (q Quoting) Left(n int) int {
	const frame = 30 // heading and ending
	if !q.on() {
		return min(maxHeading+maxNames, n/3+frame)
	}
	lines, names := q.room(n)
	return lines + names + frame
}

// The parts of a stub, in tokens.
const (
	maxHeading = 40  // what was called, how it ended, how big it was
	maxNames   = 120 // names worth keeping
)
