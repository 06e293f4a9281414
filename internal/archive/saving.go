package archive

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Saving is what one decision has saved and cost so far.
//
// The saving of a request, before what a pour wrote again, is booked: what the client's own request would
// have cost, less the cost of the request that was sent. It is divided among the decisions in force, in
// proportion to what the tokens that each frees would have cost: read from the cache if the request before
// held the block, written if the block was new or the cache was cold, paid in full if nothing is cached. So
// the parts add up to what was booked, whatever the provider's cache has done.
//
// What a pour's request had to write again is divided by position: each piece of text that was written again
// is shared equally by the changes before it, any of which alone would have made it necessary. (This is the
// Shapley value of the game in which a set of changes costs everything behind its first one.)
//
// Requests that were too large for any client to send unchanged save nothing and cost nothing here.
type Saving struct {
	Decision decant.Decision
	Pour     string      // the pour that it is part of; empty: it was made as its block came in
	Undone   time.Time   // when it was taken back; zero: it was not. It keeps what it had saved until then
	Sent     int         // requests that were made with it
	Over     int         // of these, requests that no client could have sent unchanged
	Requests int         // of them, those whose prompts were smaller for it
	Tokens   int         // that they lacked, all together
	Saved    store.Money // its share of what they cost less
	// its share of what the pour wrote again, and of requests that cost more although they were smaller
	Cost store.Money
}

// Net returns what the decision has saved, negative while it has cost more than it saved.
func (s *Saving) Net() store.Money { return s.Saved - s.Cost }

// Even reports whether the decision has paid for itself, which takes a request that was made with it and that
// could have been sent without it.
func (s *Saving) Even() bool { return s.Sent > s.Over && s.Saved >= s.Cost }

// A PourSaving is the sum of the savings and costs of one pour's decisions.
type PourSaving struct {
	Pour      string
	Time      time.Time // when it was made
	Decisions int
	Freed     int // tokens of each request since, as estimated
	Rewritten int // tokens that the provider's cache had to write again because of it
	Requests  int // that were made with it
	Over      int // of these, requests that no client could have sent unchanged
	Undone    time.Time
	Saved     store.Money
	Cost      store.Money
}

// Net returns what the pour has saved.
func (p *PourSaving) Net() store.Money { return p.Saved - p.Cost }

// Even reports whether the pour has paid for itself, which takes a request that was made with it and that could
// have been sent without it.
func (p *PourSaving) Even() bool { return p.Requests > p.Over && p.Saved >= p.Cost }

// Savings are what all decisions of a conversation have come to, those that were taken back included. They add up:
// the parts of a pour's decisions to the pour's, and these, those of the decisions of no pour, and Other
// to what was booked for the conversation as a whole.
type Savings struct {
	Decisions []Saving     // in the order in which they were made
	Pours     []PourSaving // likewise
	Net       store.Money  // what was booked: without Decant less with it
	// of Net, what none of them explains: decisions about what has been replaced since, calls of our own
	Other store.Money
}

// A Sent is a request that was answered, with what was booked for it.
type Sent struct {
	store.Request
	Booked store.Total
}

// SavingsOf returns what the decisions of a state have come to. sent are its requests in the
// order of their times, net is what was booked for all of it, and model knows the models.
func SavingsOf(s *store.State, sent []Sent, net store.Money, model func(id string) token.Model) Savings {
	l := newSettlement(s)
	for i := range sent {
		l.request(&sent[i], model(sent[i].Model))
	}
	out := Savings{Decisions: l.savings, Pours: l.sums(), Net: net, Other: net}
	for i := range out.Decisions {
		out.Other -= out.Decisions[i].Net()
	}
	return out
}

// ReadSavings reads what SavingsOf needs from a store.
func ReadSavings(ctx context.Context, l store.Log, s *store.State, model func(id string) token.Model) (Savings, error) {
	requests, err := l.Requests(ctx, s.Key)
	if err != nil {
		return Savings{}, err
	}
	q := store.SpendQuery{Tenant: s.Tenant, Conversation: s.ID}
	all, err := total(ctx, l, q)
	if err != nil {
		return Savings{}, err
	}
	var sent []Sent
	for i := range requests {
		r := &requests[i]
		if r.Status/100 != 2 { // it cost nothing
			continue
		}
		if n := len(sent); n > 0 && sent[n-1].Time.Equal(r.Time) {
			sent[n-1].Request = *r // booked together
			continue
		}
		q.Since, q.Until = r.Time, r.Time.Add(time.Microsecond)
		booked, err := total(ctx, l, q)
		if err != nil {
			return Savings{}, err
		}
		sent = append(sent, Sent{*r, booked})
	}
	return SavingsOf(s, sent, all.Net(), model), nil
}

// total returns the sum of what a query selects.
func total(ctx context.Context, l store.Log, q store.SpendQuery) (sum store.Total, err error) {
	ts, err := l.Spending(ctx, q)
	for i := range ts {
		t := &ts[i]
		sum.Usage, sum.Without = sum.Usage.Add(t.Usage), sum.Without.Add(t.Without)
		sum.Cost, sum.Bare, sum.Rewrite = sum.Cost+t.Cost, sum.Bare+t.Bare, sum.Rewrite+t.Rewrite
		sum.Over.Calls, sum.Over.Cost, sum.Over.Bare = sum.Over.Calls+t.Over.Calls, sum.Over.Cost+t.Over.Cost, sum.Over.Bare+t.Over.Bare
	}
	return sum, err
}

// A settlement goes through the requests of a conversation and credits its decisions.
type settlement struct {
	state    *store.State
	savings  []Saving
	at       []int // of each decision, the position of its first block in the chain; 0: not in it
	sizes    []int // sizes[i]: tokens of the first i entries
	length   int   // entries that the request before held
	before   time.Time
	revoked  map[string]time.Time // by decision, when it was taken back
	rewrites map[string]int       // by pour, tokens
}

func newSettlement(s *store.State) *settlement {
	l := &settlement{
		state: s, sizes: make([]int, 1, len(s.Chain)+1), revoked: map[string]time.Time{},
		rewrites: map[string]int{},
	}
	positions := map[decant.Ref]int{}
	starts := map[int]int{}
	for i := range s.Chain {
		e := &s.Chain[i]
		l.sizes = append(l.sizes, l.sizes[i]+e.Tokens)
		positions[e.Ref] = i + 1
		if starts[e.Message] == 0 {
			starts[e.Message] = i + 1
		}
	}
	ds := s.Live()
	for i := range ds {
		if ds[i].Kind == decant.Revoke {
			l.revoked[ds[i].Revokes] = ds[i].Created
		}
	}
	for i := range ds {
		d := &ds[i]
		switch {
		case d.Kind == decant.Cover && d.Checkpoint != nil:
			l.take(d, starts[d.Checkpoint.From])
		case d.Kind.Edits():
			l.take(d, positions[d.Target.Ref])
		}
	}
	return l
}

func (l *settlement) take(d *decant.Decision, at int) {
	l.savings = append(l.savings, Saving{Decision: *d, Pour: d.Pour, Undone: l.revoked[d.ID]})
	l.at = append(l.at, at)
}

// request credits one request.
func (l *settlement) request(r *Sent, m token.Model) {
	live := l.inForce(r)
	for _, i := range live {
		l.savings[i].Sent++
		l.savings[i].Over += r.Booked.Over.Calls
	}
	if r.Booked.Over.Calls == 0 {
		again := l.charge(r, live)
		l.credit(r, live, priced(r, m), again)
	}
	l.length, l.before = r.Length, r.Time
}

// made reports whether a decision was in force at a time.
func (l *settlement) made(d *decant.Decision, at time.Time) bool {
	gone, revoked := l.revoked[d.ID]
	return !d.Created.After(at) && (!revoked || gone.After(at))
}

// inForce returns the indexes of the decisions that the request's view was made with: what an
// earlier checkpoint or one that was made meanwhile covers is not among them.
func (l *settlement) inForce(r *Sent) (out []int) {
	var cover *decant.Checkpoint
	newest := -1
	for i := range l.savings {
		if d := &l.savings[i].Decision; d.Checkpoint != nil && l.made(d, r.Time) {
			cover, newest = d.Checkpoint, i
		}
	}
	for i := range l.savings {
		d := &l.savings[i].Decision
		switch {
		case !l.made(d, r.Time) || l.at[i] == 0 || l.at[i] > r.Length:
		case d.Checkpoint != nil && i != newest:
		case d.Checkpoint == nil && cover.Covers(d.Target.Message):
		default:
			out = append(out, i)
		}
	}
	return out
}

// A tariff is what a token of a request's prompt would have cost, in billionths of a dollar.
type tariff struct {
	read, fresh float64 // of a block that the request before held, and of one that is new
}

func priced(r *Sent, m token.Model) tariff {
	p, _, ok := m.PriceAt(r.Time)
	if !ok {
		return tariff{}
	}
	u := r.Booked.Without
	rates := p.At(u.Prompt())
	write := rates.Write5m
	if u.Write1h > 0 {
		write = rates.Write1h
	}
	if !write.Known || write.USD == 0 || u.CacheRead+u.CacheWrite == 0 {
		write = rates.Input
	}
	// dollars a million are thousands of billionths each
	t := tariff{read: rates.CacheRead.USD * 1000, fresh: write.USD * 1000}
	if u.CacheRead == 0 {
		t.read = t.fresh
	}
	return t
}

// credit divides what a request cost less, what was charged for writing again aside, among the decisions in
// force.
func (l *settlement) credit(r *Sent, live []int, t tariff, again store.Money) {
	freed, worth := make([]int64, len(live)), make([]int64, len(live))
	for k, i := range live {
		d := &l.savings[i].Decision
		rate := t.read
		if l.at[i] > l.length && d.Checkpoint == nil {
			rate = t.fresh
		}
		freed[k] = int64(max(0, d.Before-d.After))
		worth[k] = int64(math.Round(float64(freed[k]) * rate))
	}
	if !slices.ContainsFunc(freed, func(n int64) bool { return n > 0 }) {
		return
	}
	if !slices.ContainsFunc(worth, func(n int64) bool { return n > 0 }) { // no price is known
		worth = freed
	}
	less := max(0, r.Booked.Without.Prompt()-r.Booked.Usage.Prompt())
	gain := int64(r.Booked.Net() + again)
	tokens, saved, lost := apportion(int64(less), freed), apportion(max(0, gain), worth), apportion(max(0, -gain), worth)
	for k, i := range live {
		s := &l.savings[i]
		if tokens[k] > 0 {
			s.Requests++
		}
		s.Tokens += int(tokens[k])
		s.Saved += store.Money(saved[k])
		s.Cost += store.Money(lost[k])
	}
}

// charge divides what a pour's request wrote again among the pour's decisions, and returns how much that was.
func (l *settlement) charge(r *Sent, live []int) store.Money {
	var made []int
	for _, i := range live {
		if s := &l.savings[i]; s.Pour != "" && s.Decision.Created.After(l.before) {
			made = append(made, i)
		}
	}
	if r.Booked.Rewrite == 0 || len(made) == 0 {
		return 0
	}
	u, bare := r.Booked.Usage, r.Booked.Without
	l.rewrites[l.savings[made[0]].Pour] += min(u.CacheWrite, max(0, u.CacheWrite-bare.CacheWrite))
	slices.SortStableFunc(made, func(x, y int) int { return l.at[x] - l.at[y] })
	pieces := make([]int64, len(made)) // text from each change to the next
	for k, i := range made {
		end := min(r.Length, len(l.sizes)-1)
		if k+1 < len(made) {
			end = l.at[made[k+1]] - 1
		}
		pieces[k] = int64(max(0, l.sizes[max(end, l.at[i]-1)]-l.sizes[l.at[i]-1]))
	}
	for k, n := range cascade(apportion(int64(r.Booked.Rewrite), pieces)) {
		l.savings[made[k]].Cost += store.Money(n)
	}
	return r.Booked.Rewrite
}

// cascade shares each amount equally among those up to its own place. The sum stays the same; what
// cannot be divided goes to the first.
func cascade(amounts []int64) []int64 {
	out := make([]int64, len(amounts))
	all := int64(0)
	for k := len(amounts) - 1; k >= 0; k-- {
		n := int64(k + 1)
		all += amounts[k] / n
		out[k] += all
		out[0] += amounts[k] % n
	}
	return out
}

// apportion divides an amount in proportion to weights into whole numbers that add up to it. Without any
// weight the first gets all.
func apportion(amount int64, weights []int64) []int64 {
	out := make([]int64, len(weights))
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	if len(weights) == 0 || amount == 0 {
		return out
	}
	if sum == 0 {
		out[0] = amount
		return out
	}
	done, seen := int64(0), int64(0)
	for i, w := range weights { // each part is what the running sum has grown by
		seen += w
		upTo := int64(math.Round(float64(amount) * (float64(seen) / float64(sum))))
		out[i], done = upTo-done, upTo
	}
	return out
}

// sums returns the sums of each pour's decisions.
func (l *settlement) sums() (out []PourSaving) {
	index := map[string]int{}
	for i := range l.savings {
		s := &l.savings[i]
		if s.Pour == "" {
			continue
		}
		k, ok := index[s.Pour]
		if !ok {
			k = len(out)
			index[s.Pour] = k
			out = append(out, PourSaving{
				Pour: s.Pour, Time: s.Decision.Created, Rewritten: l.rewrites[s.Pour], Undone: s.Undone,
			})
		}
		p := &out[k]
		p.Decisions++
		p.Freed += max(0, s.Decision.Before-s.Decision.After)
		p.Requests, p.Over = max(p.Requests, s.Sent), max(p.Over, s.Over)
		p.Saved, p.Cost = p.Saved+s.Saved, p.Cost+s.Cost
		if s.Undone.IsZero() { // some decisions are still in force: a pin undid the others
			p.Undone = time.Time{}
		}
	}
	return out
}
