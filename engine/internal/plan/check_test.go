package plan

import (
	"errors"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
)

// recording returns the decision that puts a short record in the place of the messages up to one; 0: one that changes nothing.
func recording(last int) []decant.Decision {
	if last == 0 {
		return []decant.Decision{{Kind: decant.Hold}}
	}
	return []decant.Decision{{Kind: decant.Cover, Reduction: decant.ReductionCheckpoint, Checkpoint: &decant.Checkpoint{
		Number: 1, From: 1, To: last, Messages: last, Placement: decant.PlaceMessage, Summary: "Half of the work is done.",
	}}}
}

// requested returns a pour of a request that a client has changed before it sent it.
func requested(t *testing.T, change func(*decant.Conversation)) *Pour {
	t.Helper()
	p := halfMegabyte(t)
	change(p.Draft.Conv)
	before, err := decant.Replay(p.Draft.Conv, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Draft.Before, p.Draft.View = before, before
	return p
}

// thinking puts thinking before what messages say, whose calls the model makes with its thinking switched on by hand.
func thinking(messages ...int) func(*decant.Conversation) {
	return func(c *decant.Conversation) {
		c.Thinking = decant.ThinkingManual
		for _, n := range messages {
			m := &c.Messages[n-1]
			m.Blocks = append([]decant.Block{{Kind: decant.KindThinking, Content: decant.Text("Hm."), Ref: decant.Ref{Message: n, Block: 9}}}, m.Blocks...)
		}
	}
}

// misnaming gives the call in a message another name than its result has.
func misnaming(message int) func(*decant.Conversation) {
	return func(c *decant.Conversation) { c.Messages[message-1].Blocks[0].CallID = "other" }
}

// What a pour has made may leave only if it breaks no rule that the client's own request has not broken there already, is within the
// limits of tokens and bytes, and frees enough. The messages are the user's first, and then each call (even) and its result (odd).
func TestWhatMayLeave(t *testing.T) {
	const (
		whole = 91 // a record up to here covers whole rounds
		split = 90 // and one up to here leaves a result without its call
	)
	plain := halfMegabyte(t)
	tokens := func(less int) func(*Draft, int, int) {
		return func(dr *Draft, n, _ int) { dr.Limits = policy.Limits{Window: n - less + 1000, Reserve: 1000} }
	}
	half := func(dr *Draft, n, _ int) { tokens(n/2)(dr, n, 0) }
	bytes := func(less int) func(*Draft, int, int) {
		return func(dr *Draft, _, n int) { dr.MaxBytes = n - less }
	}
	for name, c := range map[string]struct {
		request func(*decant.Conversation)         // changes what the client has sent; nil: nothing
		last    int                                // message that the record of the pour covers; 0: it changes nothing
		limits  func(dr *Draft, tokens, bytes int) // for a view of so many tokens and bytes; nil: there is room for all
		why     policy.Reason                      // empty: the window demands it
		want    error
	}{
		"legal":                         {last: whole},
		"a result without its call":     {last: split, want: decant.ErrIllegal},
		"also after a refusal":          {last: split, why: policy.Refusal, want: decant.ErrIllegal},
		"also for money":                {last: split, why: policy.Free, want: decant.ErrIllegal},
		"the client's own fault":        {request: misnaming(98), last: whole},
		"the client's fault and ours":   {request: misnaming(98), last: split, want: decant.ErrIllegal},
		"the client's fault, covered":   {request: misnaming(90), last: whole},
		"a turn begins with thinking":   {request: thinking(2, whole+1), last: whole},
		"it would no longer":            {request: thinking(2), last: whole, want: decant.ErrIllegal},
		"it would, but for the newest":  {request: thinking(2, 102), last: whole, want: decant.ErrIllegal},
		"it never did":                  {request: thinking(), last: whole},
		"all that the window leaves":    {last: whole, limits: tokens(0)},
		"a token more":                  {last: whole, limits: tokens(1), want: errTooLarge},
		"a token more, for money":       {last: whole, limits: tokens(1), why: policy.Paid, want: errTooLarge},
		"twice as much":                 {last: whole, limits: half, want: errTooLarge},
		"the provider minded no size":   {last: whole, limits: half, why: policy.Refusal},
		"it did":                        {last: whole, limits: tokens(1), why: policy.Overflow, want: errTooLarge},
		"all bytes that the API takes":  {last: whole, limits: bytes(0)},
		"a byte more":                   {last: whole, limits: bytes(1), want: errTooLarge},
		"a byte more after a refusal":   {last: whole, limits: bytes(1), why: policy.Refusal, want: errTooLarge},
		"it frees nothing":              {want: errPoor},
		"it frees a round of fifty-one": {last: 3, want: errPoor},
		"nothing, after a refusal":      {why: policy.Refusal},
	} {
		t.Run(name, func(t *testing.T) {
			r, in := plain.rewrite(0), *plain.Draft.Input
			if r.Draft.Input = &in; c.request != nil {
				r = requested(t, c.request).rewrite(0)
			}
			r.Draft.Limits = policy.Limits{Window: 1_000_000, Reserve: 1000}
			if err := r.Draft.Add(recording(c.last)); err != nil {
				t.Fatal(err)
			}
			n, body := r.Draft.Size(r.Draft.View), sizeOfBody(t, r.Draft)
			if c.limits != nil {
				c.limits(r.Draft, n, body)
			}
			why := c.why
			if why == "" {
				why = policy.Necessary
			}
			if err := r.check(why, false); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("%v, want %v", err, c.want)
			} else if err == nil && r.Draft.Outcome.After != n {
				t.Errorf("%d tokens are reported of %d", r.Draft.Outcome.After, n)
			}
		})
	}
}

// sizeOfBody returns how many bytes a draft has as it leaves.
func sizeOfBody(t *testing.T, dr *Draft) int {
	t.Helper()
	body, err := dr.Render()
	if err != nil {
		t.Fatal(err)
	}
	return len(body)
}
