// Package summary makes the record that replaces messages of a conversation that are no longer sent:
// deterministic, offline, within a budget of tokens.
//
// It is extractive, and written for a reader: words that people typed come first and whole, then the request
// in hand, their rules, what came of jobs that are finished, the plan, what still runs or is open, how builds, tests and
// commits came out last and what other tools did, every file that was changed or read, what the model concluded, and at the
// end passages of results under the file or the command that they came from: what a person would copy, as a function with
// its head, a hunk, a failing test, rows of a table, members of JSON. Where lines are left out between two passages stands
// "…". What must be in the record is taken first, in that order; of the rest those passages are taken that add the most
// names for their tokens, on lines that say what the names are, and those first that continue what the record has. An
// earlier record is read back and distilled again, so that a record of records does not grow; text that only looks like one
// is text
// ([Sealed]).
//
// The same package checks and repairs summaries that others wrote: [Accept]. Lines of what models wrote about
// a stretch of the messages can be quoted unchanged in a record ([Draft.Compose]), under a heading of their
// own and with the messages that they are about; the record's first line says who wrote them.
package summary

import (
	"context"
	"strings"

	"github.com/decantdev/decant"
)

// Options say how a summary is made. The zero value is not useful: Budget must be set.
type Options struct {
	// Budget is the most tokens that the summary may have, by Counter.
	Budget int

	// Wanted are exact strings that the agent uses now, the newest first. Lines that have them, and what stands beside
	// these, come before others that say as much.
	Wanted []string

	// NoResults says that nothing of what tools returned is quoted.
	NoResults bool

	// Counter counts the tokens. Nil means an estimate by classes of characters.
	Counter decant.Counter
}

// A Summary is the record of a stretch of conversation.
type Summary struct {
	Text     string // what the model reads, marked as a record
	Tokens   int    // of Text, by the counter of the options
	From, To int    // numbers of the first and the last message that it covers
	Rung     decant.Rung
	Facts    []decant.Fact // the must-keep facts that it keeps, when it was checked (Accept)
}

// Extract returns the summary of ms within the budget of o. The same messages and options give the
// same bytes. It returns an error that wraps decant.ErrNothing when ms says nothing, one that wraps
// decant.ErrSummary when no summary fits the budget or is smaller than ms, and ctx's own when that is done first.
func Extract(ctx context.Context, ms []decant.Message, o Options) (Summary, error) {
	_, s, err := NewDraft(ctx, ms, o)
	return s, err
}

// Tiny budgets are tried again with less, since the first line and the headings take their part.
const (
	retries = 5
	frame   = 6 // tokens of a part of the first line
)

// sampleSize is how many bytes of a source are counted to learn how its tokens relate to the estimate.
const sampleSize = 8 << 10

// allowance returns the budget in tokens of the package's own estimate, a little more than will fit.
func (s *source) allowance(o Options) float64 {
	var sample []byte
	take := func(text string, parts int) {
		if len(sample) < sampleSize {
			sample = append(append(sample, text[:min(len(text), max(64, sampleSize/parts))]...), '\n')
		}
	}
	for _, t := range s.texts {
		take(t.body, len(s.texts)+len(s.acts))
	}
	for _, a := range s.acts {
		take(a.result, len(s.texts)+len(s.acts))
	}
	text := strings.ToValidUTF8(string(sample), "")
	ratio := float64(o.Counter.Count(text)+1) / (estimate(text) + 1)
	return float64(o.Budget) / ratio * 1.05
}

// fit returns the summary of the longest run of picks, best first, that is within the budget and clearly
// smaller than its source, and how many they are. It has more than least of them. Without a text it returns
// "".
func (b *book) fit(picks []int32, least int, o Options) (best Summary, lo int) {
	best = Summary{From: b.src.from, To: b.src.to, Rung: decant.RungExtractive}
	lo, hi := least, len(picks)+1 // picks[:lo] fits, picks[:hi] does not
	n := len(picks)
	for lo < hi-1 {
		text := b.render(picks[:n])
		size := o.Counter.Count(text)
		if long := len(text) * 10 / 9; long > b.src.size {
			size = max(size, o.Budget+1, o.Budget*long/b.src.size)
		}
		if size <= o.Budget {
			lo = n
			best.Text, best.Tokens = text, size
			if float64(size) > .996*float64(o.Budget) {
				break
			}
		} else {
			hi = n
		}
		n = next(n, lo, hi, float64(o.Budget)/float64(max(size, 1)))
	}
	return best, lo
}

// next guesses the number of picks to try after n, of which the text was share too small or large.
func next(n, lo, hi int, share float64) int {
	guess := int(float64(n) * (1 + (share-1)*.97))
	return min(max(guess, lo+1), hi-1)
}
