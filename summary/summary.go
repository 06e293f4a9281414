// Package summary makes the record that stands in a conversation for messages that are no longer
// sent: deterministic, offline, within a budget of tokens.
//
// It is extractive. Every line of the transcript is a candidate, and so is every name in it with the
// few words around it. What an agent may have to repeat letter by letter (the spans of package
// fact) gets a probability of being needed again, what people and the model said in prose gets a
// value of its own, and a greedy choice takes what adds most for its tokens. What was chosen is set
// in order: the user's words, decisions, open items, errors, the state of files, commands, what was
// said, names. An earlier summary is read like any other text and distilled again, so a record of
// records does not grow.
//
// The same package checks and repairs summaries that others wrote: [Verify], [Repair] and [Accept].
package summary

import (
	"fmt"

	"github.com/decantdev/decant"
)

// Options say how a summary is made. The zero value is not useful: Budget must be set.
type Options struct {
	// Budget is the most tokens that the summary may have, by Counter.
	Budget int

	// Counter counts the tokens. Nil means an estimate by classes of characters.
	Counter decant.Counter
}

// A Summary is the record of a stretch of conversation.
type Summary struct {
	Text     string // what the model reads, marked as a record
	Tokens   int    // of Text, by the counter of the options
	From, To int    // numbers of the first and the last message that it covers
	Rung     decant.Rung
	Score    float64       // share of fact weight that it keeps, when it was checked (Accept)
	Facts    []decant.Fact // those that it keeps, when it was checked
}

// Extract returns the summary of ms within the budget of o. The same messages and options give the
// same bytes. It returns an error that wraps decant.ErrNothing when ms says nothing, and one that wraps
// decant.ErrSummary when no summary fits the budget or is smaller than ms.
func Extract(ms []decant.Message, o Options) (Summary, error) {
	if o.Counter == nil {
		o.Counter = classes{}
	}
	d := read(ms)
	if len(d.lines) == 0 {
		return Summary{}, fmt.Errorf("summarise %d messages: %w", len(ms), decant.ErrNothing)
	}
	d.weigh()
	budget := d.allowance(o)
	s := d.fit(d.choose(budget), o)
	for range retries {
		if s.Text != "" {
			break
		}
		budget = budget*.75 - frame // what was picked first was too large by itself
		s = d.fit(d.choose(budget), o)
	}
	if s.Text == "" {
		return s, fmt.Errorf("summarise %d messages of %d bytes in %d tokens: nothing fits: %w", len(ms), d.size, o.Budget, decant.ErrSummary)
	}
	return s, nil
}

// Tiny budgets are tried again with less, since the first line and the headings take their part.
const (
	retries = 4
	frame   = 6 // tokens of a part of the first line
)

// allowance returns the budget in tokens of the package's own estimate, a little more than will fit,
// and never more than the text can use.
func (d *digest) allowance(o Options) float64 {
	var sample []byte
	step := max(1, len(d.lines)/64)
	for i := 0; i < len(d.lines) && len(sample) < 8<<10; i += step {
		sample = append(append(sample, d.lines[i].text...), '\n')
	}
	ratio := float64(o.Counter.Count(string(sample))+1) / (estimate(string(sample)) + 1)
	return float64(o.Budget) / ratio * 1.2
}

// fit returns the summary of the longest run of picks, best first, that is within the budget and clearly
// smaller than its source.
func (d *digest) fit(picks []pick, o Options) Summary {
	best := Summary{From: d.from, To: d.to, Rung: decant.RungExtractive}
	lo, hi := 0, len(picks)+1 // picks[:lo] fits, picks[:hi] does not
	n := max(len(picks)*5/6, 1)
	for lo < hi-1 {
		text := d.render(picks[:n])
		size := o.Counter.Count(text)
		if long := len(text) * 10 / 9; long > d.size {
			size = max(size, o.Budget+1, o.Budget*long/d.size)
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
		n = d.next(n, lo, hi, float64(o.Budget)/float64(max(size, 1)))
	}
	return best
}

// next guesses the number of picks to try after n, of which the text was share too small or large.
func (d *digest) next(n, lo, hi int, share float64) int {
	guess := int(float64(n) * (1 + (share-1)*.97))
	return min(max(guess, lo+1), hi-1)
}
